return notDeclaredAnywhere;
//> error: thrown ReferenceError
//> line: 1
