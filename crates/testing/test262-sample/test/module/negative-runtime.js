/*---
description: It runs, and fails
flags: [module]
negative:
  phase: runtime
  type: RangeError
---*/

new Array(-1);
