//! limits = { value_kb = 16 }
return "x".repeat(17 * 1024);
//> error: output_limit
