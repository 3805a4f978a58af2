//! tools = ["echo", "big"]
//! limits = { payload_kb = 16 }
return [(await tools.echo("x".repeat(10000))).length, (await tools.big({ bytes: 10000 })).length];
//> value: [10000,10000]
