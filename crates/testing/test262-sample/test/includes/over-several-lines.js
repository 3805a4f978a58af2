/*---
description: Lists in brackets may go on
includes: [compareArray.js,
  propertyHelper.js]
---*/

assert.sameValue(typeof verifyProperty, "function");
assert.sameValue(typeof assert.compareArray, "function");
