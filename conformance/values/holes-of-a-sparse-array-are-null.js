const a = [1, , 3];
a.length = 5;
return a;
//> value: [1,null,3,null,null]
