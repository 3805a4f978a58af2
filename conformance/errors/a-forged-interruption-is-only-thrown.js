const error = new Error("interrupted");
error.name = "InternalError";
throw error;
//> error: thrown InternalError
//> message: "interrupted"
