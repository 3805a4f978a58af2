//! tools = ["echo"]
try { return (await tools.echo("a\ud800")) === "a\ud800"; } catch { return "refused"; }
//> any: value true | value "refused"
