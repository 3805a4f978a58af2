console.log("text", 1, -0, 1.50, 10n, true, null, undefined, Symbol("s"), NaN);
return null;
//> value: null
//> stdout: "text 1 -0 1.5 10n true null undefined Symbol(s) NaN"
