//! tools = ["echo"]
return [typeof tools.slow, typeof globalThis.external_slow];
//> value: ["undefined","undefined"]
