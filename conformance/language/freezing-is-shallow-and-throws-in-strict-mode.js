"use strict";
const o = Object.freeze({ a: [1] });
o.a.push(2);
try { o.a = 3; } catch (error) { return [error.name, o.a]; }
//> value: ["TypeError",[1,2]]
