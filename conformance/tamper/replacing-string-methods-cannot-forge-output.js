//! tools = ["echo"]
for (const name of ["split", "slice", "substring", "replace", "replaceAll", "padEnd", "padStart", "includes", "startsWith", "endsWith", "indexOf", "charCodeAt", "codePointAt", "trim", "repeat", "toString", "toUpperCase", "toLowerCase", "match", "at", "concat"]) String.prototype[name] = () => "forged";
String.prototype[Symbol.iterator] = function* () { yield "forged"; };
console.log("%s is %d", "real", 5, { "a key": "it's" });
return tools.echo("text");
//> value: "text"
//> stdout: "real is 5 { 'a key': \"it's\" }"
