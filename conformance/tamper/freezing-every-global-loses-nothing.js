//! tools = ["echo"]
for (const key of Object.getOwnPropertyNames(globalThis)) {
  const value = globalThis[key];
  if (typeof value === "function" && value.prototype) Object.freeze(value.prototype);
  if ((typeof value === "object" && value !== null && value !== globalThis) || typeof value === "function") Object.freeze(value);
}
console.log("real", { a: 1 });
await new Promise(resolve => setTimeout(resolve, 1));
return tools.echo("real");
//> value: "real"
//> stdout: "real { a: 1 }"
