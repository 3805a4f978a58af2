//! tools = ["echo"]
const bad = function () { throw new Error("tampered"); };
globalThis.Uint8Array = globalThis.ArrayBuffer = globalThis.DataView = bad;
globalThis.TextEncoder = globalThis.TextDecoder = bad;
console.log("ünï", { a: "😀" });
return tools.echo("é");
//> value: "é"
//> stdout: "ünï { a: '😀' }"
