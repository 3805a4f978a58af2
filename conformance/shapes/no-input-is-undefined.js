return [typeof input, input === undefined];
//> value: ["undefined",true]
