/*---
description: A script may import modules
flags: [async]
features: [dynamic-import]
---*/

import("./value_FIXTURE.js").then(function (module) {
  assert.sameValue(module.value, 1);
}).then($DONE, $DONE);
