//! oracle = false
// Node has more.
const code = "[typeof process, typeof require, typeof fetch].join()";
return [eval(code), (0, eval)(code), new Function(`return ${code}`)(), (async () => {}).constructor(`return ${code}`) instanceof Function, Reflect.construct(Function, [`return ${code}`])()];
//> value: ["undefined,undefined,undefined","undefined,undefined,undefined","undefined,undefined,undefined",true,"undefined,undefined,undefined"]
