/*---
description: Memory that is shared
features: [Atomics, SharedArrayBuffer]
---*/

Atomics.store(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
