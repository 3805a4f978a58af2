//! tools = ["echo"]
const f = () => f() + 1;
for (let i = 0; i < 3; i++) { try { f(); } catch {} }
return tools.echo("still here");
//> value: "still here"
