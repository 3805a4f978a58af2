function* naturals() { for (let n = 1; ; n++) yield n; }
return naturals().filter(n => n % 2).map(n => n * n).drop(1).take(3).toArray();
//> value: [9,25,49]
