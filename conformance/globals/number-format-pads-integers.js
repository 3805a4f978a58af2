return [5, 123].map(n => n.toLocaleString("en-US", { minimumIntegerDigits: 2 }));
//> value: ["05","123"]
