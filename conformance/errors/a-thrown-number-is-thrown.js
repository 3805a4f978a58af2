throw 42;
//> error: thrown
