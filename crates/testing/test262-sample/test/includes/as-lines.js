/*---
description: Lists may be lines
includes:
  - compareArray.js
  - propertyHelper.js
features:
  - Symbol
  - Reflect
flags:
  - onlyStrict
---*/

assert.compareArray(Reflect.ownKeys({ b: 1, a: 2 }), ["b", "a"]);
verifyProperty(Symbol, "iterator", { writable: false, enumerable: false, configurable: false });
