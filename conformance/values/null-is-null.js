return null;
//> value: null
