let p = Promise.resolve(0);
for (let i = 0; i < 10000; i++) p = p.then(n => n + 1);
return p;
//> value: 10000
