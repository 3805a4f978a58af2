/*---
description: A test is a script of the global scope
---*/

var declared = 1;
function named() {}
let lexical = 2;
assert.sameValue(this.declared, 1);
assert.sameValue(this.named, named);
assert.sameValue(this.lexical, undefined);
