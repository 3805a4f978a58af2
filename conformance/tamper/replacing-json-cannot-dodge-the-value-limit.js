//! limits = { value_kb = 16 }
//! oracle = false
// Node has no limit on values.
JSON.stringify = () => "1";
return "x".repeat(20000);
//> error: output_limit
