/*---
description: A module beside it
flags: [module]
---*/

import { value, next } from "./value_FIXTURE.js";
assert.sameValue(value, 1);
next();
assert.sameValue(value, 2);
