return new Array(-1);
//> error: thrown RangeError
