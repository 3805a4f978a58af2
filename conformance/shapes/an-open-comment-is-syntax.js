return 1; /* never closed
//> error: syntax
