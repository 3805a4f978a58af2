//! tools = ["echo"]
return [typeof tools.inc, typeof globalThis.external_inc];
//> value: ["undefined","undefined"]
