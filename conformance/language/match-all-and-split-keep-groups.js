const found = [..."a=1;b=2".matchAll(/(\w)=(\d)/g)].map(m => [m[1], m[2], m.index]);
return [found, "a1b2c".split(/(\d)/)];
//> value: [[["a","1",0],["b","2",4]],["a","1","b","2","c"]]
