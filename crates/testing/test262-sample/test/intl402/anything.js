/*---
description: Internationalization
---*/

assert(true);
