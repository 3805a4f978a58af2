return [undefined, () => 1, Symbol("c"), 1];
//> value: [null,null,null,1]
