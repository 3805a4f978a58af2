return ["a", "a===", "aGk*", "aGk=a", "_-8="].map(text => { try { return atob(text); } catch (error) { return error.name; } });
//> value: ["InvalidCharacterError","InvalidCharacterError","InvalidCharacterError","InvalidCharacterError","InvalidCharacterError"]
