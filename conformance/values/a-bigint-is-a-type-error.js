return 1n;
//> error: thrown TypeError
