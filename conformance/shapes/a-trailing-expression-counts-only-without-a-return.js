if (false) return 1;
5
//> value: undefined
