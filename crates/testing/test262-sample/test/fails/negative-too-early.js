/*---
description: It fails before it runs
flags: [noStrict]
negative:
  phase: runtime
  type: SyntaxError
---*/

var;
