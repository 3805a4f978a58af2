const a = [1];
a.extra = 2;
return a;
//> value: [1]
