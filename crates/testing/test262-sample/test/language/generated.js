/*---
description: Who wrote a test makes no difference
flags: [generated]
---*/

assert(true);
