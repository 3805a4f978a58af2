/*---
description: What $262 offers
features: [ArrayBuffer]
---*/

assert.sameValue($262.evalScript("var evaluated = 1; evaluated + 1"), 2);
assert.sameValue(evaluated, 1);
assert.sameValue($262.global, this);
var buffer = new ArrayBuffer(8);
$262.detachArrayBuffer(buffer);
assert.sameValue(buffer.byteLength, 0);
$262.gc();
