return new RegExp(`^${RegExp.escape("a.b*(c)")}$`).test("a.b*(c)");
//> value: true
