const a = performance.now();
await null;
const b = performance.now();
return [typeof a, b >= a, a >= 0];
//> value: ["number",true,true]
