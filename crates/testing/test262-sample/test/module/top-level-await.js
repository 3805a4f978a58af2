/*---
description: A module may wait
flags: [module, async]
features: [top-level-await]
---*/

assert.sameValue(await Promise.resolve(3), 3);
$DONE();
