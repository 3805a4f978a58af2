const a = 20;
a + 22
//> value: 42
