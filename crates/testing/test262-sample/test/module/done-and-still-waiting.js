/*---
description: A module may be done and wait for ever
flags: [module, async]
features: [top-level-await]
---*/

$DONE();
await new Promise(function () {});
