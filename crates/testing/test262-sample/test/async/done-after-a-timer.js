/*---
description: Timers fire at once
flags: [async, noStrict]
---*/

setTimeout(function () {
  setTimeout($DONE, 3600000);
}, 86400000);
