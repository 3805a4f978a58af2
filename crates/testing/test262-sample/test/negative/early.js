/*---
description: Older tests say early
negative:
  phase: early
  type: SyntaxError
---*/

$DONOTEVALUATE();
break;
