throw function named() {};
//> error: thrown
