//! tools = ["inc"]
return [typeof tools.echo, typeof globalThis.external_echo];
//> value: ["undefined","undefined"]
