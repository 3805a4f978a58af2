/*---
description: An error in strict mode only
flags: [onlyStrict]
negative:
  phase: parse
  type: SyntaxError
---*/

$DONOTEVALUATE();
with ({}) ;
