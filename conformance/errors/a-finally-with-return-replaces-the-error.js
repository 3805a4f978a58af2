try { throw new Error("lost"); } finally { return "kept"; }
//> value: "kept"
