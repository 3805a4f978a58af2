//! tools = ["echo"]
return [typeof tools.fail, typeof globalThis.external_fail];
//> value: ["undefined","undefined"]
