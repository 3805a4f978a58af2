/*---
description: It never says how it went
flags: [async, noStrict]
---*/

new Promise(function () {}).then($DONE, $DONE);
