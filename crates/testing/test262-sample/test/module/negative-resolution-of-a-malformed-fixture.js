/*---
description: A module that it imports is none
flags: [module]
negative:
  phase: resolution
  type: SyntaxError
---*/

$DONOTEVALUATE();
import "./malformed_FIXTURE.js";
