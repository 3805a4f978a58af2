const seen = [];
const value = await Promise.resolve("v").finally(() => { seen.push("finally"); return "ignored"; });
return [value, seen];
//> value: ["v",["finally"]]
