throw Symbol("s");
//> error: thrown
