throw null;
//> error: thrown
