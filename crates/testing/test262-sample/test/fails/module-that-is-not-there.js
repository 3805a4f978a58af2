/*---
description: It imports what is not there
flags: [module]
---*/

import "./not-there_FIXTURE.js";
