undeclared = 5;
return [undeclared, globalThis.undeclared, typeof (function () { return this; })()];
//> value: [5,5,"object"]
