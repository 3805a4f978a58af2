//! time = 0
const handles = [1, 2, 3].map(ms => setTimeout(() => {}, ms));
return new Set(handles).size;
//> value: 3
