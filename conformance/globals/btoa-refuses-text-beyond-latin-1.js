try { btoa("é€"); } catch (error) { return error.name; }
//> value: "InvalidCharacterError"
