throw Object.create(null);
//> error: thrown
