//! tools = ["echo"]
//! limits = { calls = 2000 }
const replies = await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo(i)));
return [replies.length, replies.reduce((a, b) => a + b)];
//> value: [1000,499500]
