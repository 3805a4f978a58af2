return /x/g;
//> value: {}
