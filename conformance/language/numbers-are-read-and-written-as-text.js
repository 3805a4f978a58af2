return [(255).toString(16), parseInt("12px"), Number(""), Number("0b11"), (1234.5678).toFixed(2), (0.000001234).toString(), (1e21).toLocaleString === undefined, Number("1_000"), 1_000, (25).toString(36), (123.456).toPrecision(4), (0.1).toFixed(20)];
//> value: ["ff",12,0,3,"1234.57","0.000001234",false,null,1000,"p","123.5","0.10000000000000000555"]
