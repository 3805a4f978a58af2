const sign = n => Math.sign(n);
return [sign("a".localeCompare("b")), sign("b".localeCompare("a")), sign("a".localeCompare("a")), ["pear", "apple", "fig"].sort((x, y) => x.localeCompare(y))];
//> value: [-1,1,0,["apple","fig","pear"]]
