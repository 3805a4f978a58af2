function first<T extends { id: number }, K = string>(items: T[], fallback?: K): T | K | undefined { return items[0] ?? fallback; }
class Box<T> { constructor(readonly value: T) {} map<U>(f: (value: T) => U): Box<U> { return new Box<U>(f(this.value)); } }
const identity = <T,>(x: T): T => x;
return [first<{ id: number }>([{ id: 1 }]), new Box<number>(2).map<string>(n => `${n}`).value, identity<string>("i")];
//> value: [{"id":1},"2","i"]
