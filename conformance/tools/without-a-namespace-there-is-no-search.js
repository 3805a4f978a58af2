//! tools = ["echo"]
return [typeof tools.search, typeof tools.describe, typeof tools.n];
//> value: ["undefined","undefined","undefined"]
