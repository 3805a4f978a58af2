//! tools = ["big", "echo"]
//! limits = { payload_kb = 16 }
try { await tools.big({ bytes: 17 * 1024 }); } catch (error) { return [error instanceof Error, await tools.echo("small")]; }
//> value: [true,"small"]
