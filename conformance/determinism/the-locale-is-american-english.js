//! time = 0
return [(1234567.5).toLocaleString(), new Date(0).toLocaleDateString(), new Date(0).toLocaleDateString(undefined, { month: "long" }), Intl.NumberFormat().resolvedOptions().locale];
//> value: ["1,234,567.5","1/1/1970","January","en-US"]
