return new Proxy([1, 2], {});
//> value: [1,2]
