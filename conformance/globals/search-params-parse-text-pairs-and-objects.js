return ["?a=1&b=2&a=3", [["x", "1"], ["x", "2"]], { k: "v", n: 5 }, new Map([["m", "n"]]), ""].map(i => String(new URLSearchParams(i)));
//> value: ["a=1&b=2&a=3","x=1&x=2","k=v&n=5","m=n",""]
