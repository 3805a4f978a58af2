const a = 1;
//> value: undefined
