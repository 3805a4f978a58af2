const isText = (x: unknown): x is string => typeof x === "string";
function assertText(x: unknown): asserts x is string { if (!isText(x)) throw new TypeError("no text"); }
function size(this: { length: number }, extra: number) { return this.length + extra; }
assertText("a");
return [isText(1), size.call("abc", 1)];
//> value: [false,4]
