/*---
description: An asynchronous function is the test
flags: [async]
includes: [asyncHelpers.js]
features: [async-functions]
---*/

asyncTest(async function () {
  assert.sameValue(await 7, 7);
});
