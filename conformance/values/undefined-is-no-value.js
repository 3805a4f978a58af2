return undefined;
//> value: undefined
