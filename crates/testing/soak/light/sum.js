return 40 + 2;
//> value: 42
