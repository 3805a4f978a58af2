/*---
description: It says it fails
flags: [noStrict]
negative:
  phase: runtime
  type: TypeError
---*/

assert(true);
