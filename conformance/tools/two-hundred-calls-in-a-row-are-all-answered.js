//! tools = ["echo"]
let sum = 0;
for (let i = 1; i <= 200; i++) sum += await tools.echo(i);
return sum;
//> value: 20100
