const c = structuredClone({ m: new Map([["k", new Set([1])]]), b: new Uint8Array([1, 2]), e: new RangeError("r") });
return [c.m.get("k").has(1), [...c.b], c.b instanceof Uint8Array, c.e instanceof RangeError, c.e.message];
//> value: [true,[1,2],true,true,"r"]
