return /(/.test("x");
//> error: syntax
