throw undefined;
//> error: thrown
