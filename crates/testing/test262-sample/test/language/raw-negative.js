/*---
description: Raw, and wrong from the start
flags: [raw]
negative:
  phase: parse
  type: SyntaxError
---*/

throw "this test must not run";
var var;
