class Narrow extends TypeError {}
throw new Narrow("x");
//> error: thrown TypeError
