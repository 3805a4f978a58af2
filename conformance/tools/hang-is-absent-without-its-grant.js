//! tools = ["echo"]
return [typeof tools.hang, typeof globalThis.external_hang];
//> value: ["undefined","undefined"]
