const half = await Promise.resolve(21);
return half * 2;
//> value: 42
