//! tools = ["hang"]
//! limits = { wall_ms = 200 }
try { await tools.hang(); } catch { return "caught"; } finally { return "finally"; }
//> error: timeout
