const o = { name: "o" };
o.self = o;
o.list = [o, { o }];
console.log(o);
return null;
//> value: null
//> stdout: "<ref *1> {\n  name: 'o',\n  self: [Circular *1],\n  list: [ [Circular *1], { o: [Circular *1] } ]\n}"
