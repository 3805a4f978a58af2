/*---
description: It fails, but only when it runs
flags: [noStrict]
negative:
  phase: parse
  type: SyntaxError
---*/

eval("var");
