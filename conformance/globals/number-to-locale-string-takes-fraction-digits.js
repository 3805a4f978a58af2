return [(3.14159).toLocaleString("en-US", { maximumFractionDigits: 2 }), (5).toLocaleString("en-US", { minimumFractionDigits: 2 }), (2.5).toLocaleString(undefined, { maximumFractionDigits: 0 }), (1234.5).toLocaleString("en-US", { useGrouping: false })];
//> value: ["3.14","5.00","3","1234.5"]
