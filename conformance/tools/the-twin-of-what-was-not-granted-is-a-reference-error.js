//! tools = ["echo"]
return external_fail("x");
//> error: thrown ReferenceError
