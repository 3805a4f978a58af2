class Counter {
  #n = 0;
  static #made = 0;
  constructor() { Counter.#made++; }
  #bump() { return ++this.#n; }
  next() { return this.#bump(); }
  static is(o) { return #n in o; }
  static get made() { return Counter.#made; }
}
const c = new Counter();
c.next();
return [c.next(), Counter.is(c), Counter.is({}), Counter.made, Object.keys(c)];
//> value: [2,true,false,1,[]]
