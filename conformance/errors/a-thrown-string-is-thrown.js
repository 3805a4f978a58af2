throw "just text";
//> error: thrown
