/*---
description: A raw module has no harness
flags: [module, raw]
---*/

if (typeof assert !== "undefined") throw "there is a harness";
