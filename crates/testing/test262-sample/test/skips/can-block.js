/*---
description: Only where waiting waits
flags: [CanBlockIsTrue]
---*/

assert(true);
