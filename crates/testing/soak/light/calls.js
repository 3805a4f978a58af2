//! tools = ["inc"]
//! limits = { calls = 10 }
for (;;) await tools.inc();
//> error: call_limit
