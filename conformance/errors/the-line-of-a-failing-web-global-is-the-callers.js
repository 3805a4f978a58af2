const address = "no scheme here";

return new URL(address).host;
//> error: thrown TypeError
//> line: 3
