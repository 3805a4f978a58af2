/*---
description: Calls without end
negative:
  phase: runtime
  type: RangeError
---*/

(function call() { call(); })();
