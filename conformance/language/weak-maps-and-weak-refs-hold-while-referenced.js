const key = {};
const map = new WeakMap([[key, "v"]]);
const ref = new WeakRef(key);
return [map.get(key), map.has({}), ref.deref() === key, new WeakSet([key]).has(key)];
//> value: ["v",false,true,true]
