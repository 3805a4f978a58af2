/*---
description: A module is strict and has no this
flags: [module]
---*/

assert.sameValue(this, undefined);
assert.sameValue((function () { return this; })(), undefined);
