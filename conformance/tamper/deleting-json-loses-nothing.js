//! tools = ["echo"]
delete globalThis.JSON;
console.log("written", { a: 1 });
return [await tools.echo(1), typeof JSON];
//> value: [1,"undefined"]
//> stdout: "written { a: 1 }"
