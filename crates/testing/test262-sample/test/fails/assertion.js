/*---
description: Wrong in both modes
features: [Symbol]
---*/

assert.sameValue(1, 2, "one");
