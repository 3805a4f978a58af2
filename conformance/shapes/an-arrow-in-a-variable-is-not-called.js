const f = () => 1;
//> value: undefined
