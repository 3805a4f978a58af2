return NaN;
//> value: null
