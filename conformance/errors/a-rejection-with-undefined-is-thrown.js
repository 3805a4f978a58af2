await Promise.reject();
//> error: thrown
