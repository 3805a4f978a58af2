/*---
description: Another realm has intrinsics of its own
features: [cross-realm]
---*/

var other = $262.createRealm();
assert.notSameValue(other.global.Array, Array);
assert.sameValue(other.evalScript("[] instanceof Array"), true);
assert.sameValue(other.evalScript("[]") instanceof Array, false);
