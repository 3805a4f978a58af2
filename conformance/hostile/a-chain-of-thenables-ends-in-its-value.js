let left = 100;
const o = { then(resolve) { resolve(--left ? o : "end"); } };
return o;
//> value: "end"
