/*---
description: There is one of each module
flags: [module]
---*/

import * as self from "./imports-itself.js";
export const own = 1;
assert.sameValue(self.own, 1);
