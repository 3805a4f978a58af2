/*---
description: Nobody knows what that means
flags: [onlySometimes]
---*/

assert(true);
