const s = Symbol("d");
return [s.description, Symbol.for("k") === Symbol.for("k"), Symbol.keyFor(Symbol.for("k")), s === Symbol("d"), typeof Symbol.asyncIterator];
//> value: ["d",true,"k",false,"symbol"]
