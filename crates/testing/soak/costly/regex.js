//! limits = { cpu_ms = 5 }
return /^(a+)+$/.test("a".repeat(40) + "!");
//> error: cpu_limit
