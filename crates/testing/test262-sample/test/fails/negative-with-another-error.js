/*---
description: It fails, but otherwise
flags: [noStrict]
negative:
  phase: runtime
  type: TypeError
---*/

throw new RangeError("another");
