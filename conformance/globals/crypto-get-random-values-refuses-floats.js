return [new Float32Array(1), [1], "x", null].map(x => { try { crypto.getRandomValues(x); return "ok"; } catch (error) { return error instanceof Error; } });
//> value: [true,true,true,true]
