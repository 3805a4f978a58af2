try { new Request("https://example.com", { body: "x" }); } catch (error) { return error.name; }
//> value: "TypeError"
