console.log("%d %i %f %d %i %d", {}, {}, "x", 5n, 7.9, Symbol("s"));
return null;
//> value: null
//> stdout: "NaN NaN NaN 5n 7 NaN"
