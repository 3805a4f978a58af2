return `never closed
//> error: syntax
