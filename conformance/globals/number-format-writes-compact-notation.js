return [950, 1234, 1500000, 2.5e9].map(n => new Intl.NumberFormat("en-US", { notation: "compact" }).format(n));
//> value: ["950","1.2K","1.5M","2.5B"]
