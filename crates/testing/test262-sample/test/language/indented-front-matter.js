/*---
  description: Everything is indented
  flags: [onlyStrict]
  includes: [compareArray.js]
---*/

assert.compareArray([1, 2], [1, 2]);
assert.sameValue((function () { return this; })(), undefined);
