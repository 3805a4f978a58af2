try { return 1n + 1; } catch (error) { return error.name; }
//> value: "TypeError"
