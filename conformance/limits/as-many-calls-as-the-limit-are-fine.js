//! tools = ["echo"]
//! limits = { calls = 5 }
let last;
for (let i = 1; i <= 5; i++) last = await tools.echo(i);
return last;
//> value: 5
