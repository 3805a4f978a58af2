const o = Object.create({ inherited: 1 });
o.own = 2;
return o;
//> value: {"own":2}
