//! tools = ["echo"]
let sum = 0;
for (let i = 0; i < 20; i++) sum += await tools.echo(i);
return sum;
//> value: 190
