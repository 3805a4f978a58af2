return "123";
//> value: "123"
