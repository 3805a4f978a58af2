//! limits = { stack_kb = 64 }
const depth = n => n === 0 ? 0 : 1 + depth(n - 1);
return [depth(20), JSON.stringify([[[[1]]]]), [3, 1, 2].sort((a, b) => a - b)];
//> value: [20,"[[[[1]]]]",[1,2,3]]
