try { crypto.getRandomValues(new Uint8Array(65537)); } catch (error) { return error.name; }
//> value: "QuotaExceededError"
