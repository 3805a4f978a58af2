const usd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
return [usd.format(1234.5), usd.format(-0.999), (1e6).toLocaleString("en-US", { style: "currency", currency: "EUR" }), (1234).toLocaleString("en-US", { style: "currency", currency: "JPY" }), (7).toLocaleString("en-US", { style: "currency", currency: "USD", minimumFractionDigits: 0 })];
//> value: ["$1,234.50","-$1.00","€1,000,000.00","¥1,234","$7"]
