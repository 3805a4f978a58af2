return new Uint8Array([7, 8]);
//> value: {"0":7,"1":8}
