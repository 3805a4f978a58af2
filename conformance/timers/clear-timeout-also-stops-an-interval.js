//! time = 0
let fired = 0;
const id = setInterval(() => fired++, 5);
clearTimeout(id);
await new Promise(resolve => setTimeout(resolve, 30));
return fired;
//> value: 0
