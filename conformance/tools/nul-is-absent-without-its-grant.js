//! tools = ["echo"]
return [typeof tools.nul, typeof globalThis.external_nul];
//> value: ["undefined","undefined"]
