/*---
description: One file of the harness
includes: [compareArray.js]
---*/

assert.compareArray([1, NaN, -0], [1, NaN, -0]);
