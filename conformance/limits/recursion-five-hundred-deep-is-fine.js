const depth = n => n === 0 ? 0 : 1 + depth(n - 1);
return depth(500);
//> value: 500
