let x = 1;
x = x + 4;
//> value: 5
