/*---
description: Memory that is shared
features: [SharedArrayBuffer]
---*/

new SharedArrayBuffer(4);
