return new Date(NaN);
//> value: null
