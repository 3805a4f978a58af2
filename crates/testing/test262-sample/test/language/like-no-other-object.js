/*---
description: An object that says it is undefined
features: [IsHTMLDDA]
---*/

var odd = $262.IsHTMLDDA;
assert.sameValue(typeof odd, "undefined");
assert(odd == null);
assert(odd !== undefined);
