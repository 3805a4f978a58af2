const x = ;
//> error: syntax
