const f = (a, b = a * 2, ...c) => [a, b, c];
return [f.name, f.length, f(1), f(1, undefined, 3), (function () { return arguments.length; })(1, 2, 3), f.toString().startsWith("(a, b")];
//> value: ["f",1,[1,2,[]],[1,2,[3]],3,true]
