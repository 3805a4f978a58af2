//! tools = ["echo"]
//! limits = { payload_kb = 16 }
try { await tools.echo("x".repeat(17 * 1024)); } catch (error) { return [error instanceof Error, await tools.echo("small")]; }
//> value: [true,"small"]
