//! input = { "__proto__" = { polluted = true }, a = 1 }
return [({}).polluted === undefined, Object.keys(input), Object.getPrototypeOf(input) === Object.prototype];
//> value: [true,["__proto__","a"],true]
