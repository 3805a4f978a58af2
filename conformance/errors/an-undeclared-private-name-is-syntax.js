class A { get() { return this.#missing; } }
//> error: syntax
