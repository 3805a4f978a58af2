//! tools = ["echo"]
const same = await tools;
return typeof same.echo;
//> value: "function"
