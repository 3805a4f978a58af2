return Symbol("s");
//> value: undefined
