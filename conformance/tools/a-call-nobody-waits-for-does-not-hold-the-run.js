//! tools = ["hang", "slow"]
//! limits = { wall_ms = 5000 }
tools.hang();
tools.slow({ ms: 4000 });
return "returned";
//> value: "returned"
