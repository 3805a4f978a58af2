try { queueMicrotask("text"); } catch (error) { return error.name; }
//> value: "TypeError"
