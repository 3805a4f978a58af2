try { await new Response("{oops").json(); } catch (error) { return error.name; }
//> value: "SyntaxError"
