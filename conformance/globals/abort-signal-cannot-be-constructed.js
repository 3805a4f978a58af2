try { new AbortSignal(); } catch (error) { return error.name; }
//> value: "TypeError"
