/*---
description: It cannot be parsed, and does not say so
flags: [noStrict]
---*/

var = 1;
