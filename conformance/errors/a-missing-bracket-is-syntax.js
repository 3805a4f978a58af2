const list = [1, 2;
return list;
//> error: syntax
//> line: 1
