return Promise.reject(new RangeError("x"));
//> error: thrown RangeError
