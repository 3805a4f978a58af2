break;
//> error: syntax
