return new ArrayBuffer(8);
//> value: {}
