//! time = 0
const id = setTimeout(() => {}, 1);
clearTimeout(id);
clearTimeout(id);
return await new Promise(resolve => setTimeout(resolve, 5, "fine"));
//> value: "fine"
