/*---
description: A module that is none
flags: [module]
negative:
  phase: parse
  type: SyntaxError
---*/

$DONOTEVALUATE();
export default 1;
export default 2;
