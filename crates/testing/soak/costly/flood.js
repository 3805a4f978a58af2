//! limits = { output_kb = 16 }
for (;;) console.log("line");
//> error: output_limit
