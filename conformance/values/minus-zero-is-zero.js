return -0;
//> value: 0
