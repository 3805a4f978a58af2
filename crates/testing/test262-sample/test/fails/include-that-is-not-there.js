/*---
description: The harness has no such file
includes: [not-there.js]
flags: [onlyStrict]
---*/

assert(true);
