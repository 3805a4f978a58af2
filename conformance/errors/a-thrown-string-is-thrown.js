throw "just text";
//> error: thrown
//> message: "just text"
