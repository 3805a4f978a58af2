/*---
description: It says that it failed
flags: [async, noStrict]
---*/

Promise.reject(new TypeError("refused")).then($DONE, $DONE);
