const error = TypeError("x");
return [error instanceof TypeError, error instanceof Error, String(error), Object.prototype.toString.call(error)];
//> value: [true,true,"TypeError: x","[object Error]"]
