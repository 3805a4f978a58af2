const a = 1, b = 2, c = 3;
const f = x => x;
return [f(a < b, c > b), (a < b) > false, a<b, b>a];
//> value: [true,true,true,true]
