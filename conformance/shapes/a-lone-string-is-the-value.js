"hello"
//> value: "hello"
