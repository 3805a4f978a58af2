/*---
description: Done when promises are
flags: [async]
---*/

Promise.resolve(1).then(function (value) {
  assert.sameValue(value, 1);
}).then($DONE, $DONE);
