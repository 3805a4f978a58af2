/*---
description: Without flags a test is run in sloppy and in strict mode
---*/

var strict = (function () { return this === undefined; })();
print(strict ? "strict" : "sloppy");
assert.sameValue(typeof strict, "boolean");
