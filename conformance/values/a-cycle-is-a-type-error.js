const o = { a: {} };
o.a.b = o;
return o;
//> error: thrown TypeError
