/*---
description: Includes are there for modules too
flags: [module]
includes: [compareArray.js]
---*/

assert.compareArray([1], [1]);
