//! tools = ["echo"]
return [typeof tools.body, typeof globalThis.external_body];
//> value: ["undefined","undefined"]
