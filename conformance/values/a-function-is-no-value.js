return () => 1;
//> value: undefined
