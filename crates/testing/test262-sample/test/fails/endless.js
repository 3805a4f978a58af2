/*---
description: It computes for ever
flags: [raw]
---*/

for (;;) ;
