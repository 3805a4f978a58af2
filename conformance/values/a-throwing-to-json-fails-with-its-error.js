return [{ toJSON() { throw new SyntaxError("no"); } }];
//> error: thrown SyntaxError
