return true;
//> value: true
