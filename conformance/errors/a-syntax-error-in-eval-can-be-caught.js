try { eval("("); } catch (error) { return error instanceof SyntaxError; }
//> value: true
