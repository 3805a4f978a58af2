//! limits = { value_kb = 16 }
return "x".repeat(100000);
//> error: output_limit
