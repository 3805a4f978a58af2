//! tools = ["echo"]
const text = "0123456789abcdef".repeat(1 << 16);
return (await tools.echo({ text })).text === text;
//> value: true
