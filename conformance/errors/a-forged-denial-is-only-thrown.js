const error = new Error("policy refused this");
error.name = "Denied";
error.kind = "denied";
throw error;
//> error: thrown Denied
//> message: "policy refused this"
