//! tools = ["echo"]
return [typeof tools.big, typeof globalThis.external_big];
//> value: ["undefined","undefined"]
