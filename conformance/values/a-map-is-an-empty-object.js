return new Map([["a", 1]]);
//> value: {}
