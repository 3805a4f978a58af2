BigInt.prototype.toJSON = function () { return `${this}n`; };
return { a: 12n };
//> value: {"a":"12n"}
