//! tools = ["echo"]
return [typeof tools.proto, typeof globalThis.external_proto];
//> value: ["undefined","undefined"]
