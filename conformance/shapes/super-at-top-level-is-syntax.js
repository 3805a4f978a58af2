return super.toString();
//> error: syntax
