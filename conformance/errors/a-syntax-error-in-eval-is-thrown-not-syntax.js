eval("let = ;");
//> error: thrown SyntaxError
