//! tools = ["echo"]
let o = "bottom";
for (let i = 0; i < 100; i++) o = { o };
let reply = await tools.echo(o), depth = 0;
while (typeof reply === "object") { reply = reply.o; depth++; }
return [depth, reply];
//> value: [100,"bottom"]
