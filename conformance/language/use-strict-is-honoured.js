"use strict";
try { undeclared = 5; } catch (error) { return [error.name, (function () { return this; })() === undefined]; }
//> value: ["ReferenceError",true]
