const text = "{ not json";
return JSON.parse(text);
//> error: thrown SyntaxError
//> line: 2
