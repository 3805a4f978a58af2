try { await crypto.subtle.digest("MD5", new Uint8Array(1)); } catch (error) { return error.name; }
//> value: "NotSupportedError"
