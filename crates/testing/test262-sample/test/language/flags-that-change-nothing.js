/*---
description: We cannot block, and nothing here differs from run to run
flags: [CanBlockIsFalse, non-deterministic]
---*/

assert(true);
