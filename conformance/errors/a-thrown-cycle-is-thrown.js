const o = {};
o.o = o;
throw o;
//> error: thrown
