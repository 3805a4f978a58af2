const shared = {};
const o = { shared, list: [shared] };
o.self = o;
const c = structuredClone(o);
return [c.self === c, c.list[0] === c.shared, c.shared !== shared];
//> value: [true,true,true]
