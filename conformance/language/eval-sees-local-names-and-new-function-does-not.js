const local = "seen";
return [eval("local"), new Function("return typeof local")(), (0, eval)("typeof local")];
//> value: ["seen","undefined","undefined"]
