return [(0.256).toLocaleString("en-US", { style: "percent" }), (0.256).toLocaleString("en-US", { style: "percent", minimumFractionDigits: 1 }), new Intl.NumberFormat("en-US", { style: "percent" }).format(12)];
//> value: ["26%","25.6%","1,200%"]
