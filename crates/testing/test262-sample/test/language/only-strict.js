/*---
description: Strict mode only
flags: [onlyStrict]
---*/

assert.sameValue((function () { return this; })(), undefined);
assert.throws(ReferenceError, function () { undeclared = 1; });
