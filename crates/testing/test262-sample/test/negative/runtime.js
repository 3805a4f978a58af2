/*---
description: An error of the language
negative:
  phase: runtime
  type: TypeError
---*/

null.property;
