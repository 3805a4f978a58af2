/*---
description: Done, and then not
flags: [async, noStrict]
---*/

$DONE();
throw new TypeError("after all");
