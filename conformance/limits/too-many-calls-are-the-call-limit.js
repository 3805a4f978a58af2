//! tools = ["inc"]
//! limits = { calls = 5 }
for (;;) await tools.inc();
//> error: call_limit
