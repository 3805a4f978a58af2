/*---
description: Sloppy mode only
flags: [noStrict]
---*/

var seen;
with ({ name: 7 }) seen = name;
assert.sameValue(seen, 7);
