//! tools = ["echo"]
//! limits = { payload_kb = 16 }
//! oracle = false
// Node has no limit on payloads.
JSON.stringify = () => "1";
try { return (await tools.echo("x".repeat(20000))).length; } catch (error) { return "refused"; }
//> value: "refused"
