const key = "dyn";
const o = { _v: 1, get [key]() { return this._v; }, set [key](v) { this._v = v * 2; }, [`${key}Name`]() { return "m"; } };
o.dyn = 5;
return [o.dyn, o.dynName(), Object.getOwnPropertyDescriptor(o, "dyn").set.name];
//> value: [10,"m","set dyn"]
