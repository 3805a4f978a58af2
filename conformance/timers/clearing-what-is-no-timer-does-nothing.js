//! time = 0
for (const x of [undefined, null, 0, -1, 1e9, NaN, "x", {}, []]) { clearTimeout(x); clearInterval(x); }
return "fine";
//> value: "fine"
