/*---
description: A cycle and a BigInt cannot be written as JSON, and need not be
features: [BigInt]
---*/

var object = { number: 1n };
object.object = object;
object
