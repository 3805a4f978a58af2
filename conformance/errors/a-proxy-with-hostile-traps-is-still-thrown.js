const bad = () => { throw new Error("trap"); };
throw new Proxy(new Error("x"), { get: bad, has: bad, ownKeys: bad, getPrototypeOf: bad, getOwnPropertyDescriptor: bad });
//> error: thrown
