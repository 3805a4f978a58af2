/*---
description: Wrong in one mode
---*/

assert.notSameValue((function () { return this; })(), undefined, "this");
