//! time = 0
const calls = [];
let timer;
const debounced = value => { clearTimeout(timer); timer = setTimeout(() => calls.push([value, Date.now()]), 50); };
debounced("a");
await new Promise(resolve => setTimeout(resolve, 20));
debounced("b");
await new Promise(resolve => setTimeout(resolve, 20));
debounced("c");
await new Promise(resolve => setTimeout(resolve, 100));
return calls;
//> value: [["c",90]]
