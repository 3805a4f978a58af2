class Evil extends Array { static get [Symbol.species]() { return function (n) { return new Uint8Array(1); }; } }
const a = Evil.from([1, 2, 3, 4]);
let name = "none";
try { a.map(x => x); a.filter(() => true); a.concat([5]); a.splice(0, 2); } catch (error) { name = error.name; }
return ["TypeError", "none"].includes(name);
//> value: true
