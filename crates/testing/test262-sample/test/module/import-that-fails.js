/*---
description: What is not there cannot be imported, and that can be caught
flags: [async]
features: [dynamic-import]
---*/

import("./not-there_FIXTURE.js").then(function () {
  $DONE("it was loaded");
}, function () {
  $DONE();
});
