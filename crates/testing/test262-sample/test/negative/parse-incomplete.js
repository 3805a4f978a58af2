/*---
description: The text ends too soon, and nothing may be put behind it
negative:
  phase: parse
  type: SyntaxError
---*/

$DONOTEVALUATE();
if (true)
