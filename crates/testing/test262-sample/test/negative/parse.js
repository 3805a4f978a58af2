/*---
description: Nothing of it runs
negative:
  phase: parse
  type: SyntaxError
---*/

$DONOTEVALUATE();
let twice, twice;
