return 1.5;
//> value: 1.5
