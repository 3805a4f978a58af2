return new Error("not thrown");
//> value: {}
