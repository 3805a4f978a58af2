/*---
description: Several files of the harness
includes: [compareArray.js, propertyHelper.js]
---*/

assert.compareArray([], []);
verifyProperty({ a: 1 }, "a", { value: 1, writable: true, enumerable: true, configurable: true });
