*/ return 1; /*
//> error: syntax
