function outerOne() { return innerTwo(); }
function innerTwo() { return new Error("x").stack; }
const stack = outerOne();
return [stack.includes("innerTwo"), stack.indexOf("innerTwo") < stack.indexOf("outerOne")];
//> value: [true,true]
