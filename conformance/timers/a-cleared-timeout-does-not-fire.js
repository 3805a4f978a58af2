//! time = 0
const fired = [];
const id = setTimeout(() => fired.push("cleared"), 5);
clearTimeout(id);
await new Promise(resolve => setTimeout(resolve, 20));
return fired;
//> value: []
