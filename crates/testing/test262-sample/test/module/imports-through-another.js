/*---
description: A module that imports a module in the folder above
flags: [module]
features: [export-star-as-namespace-from-module]
---*/

import { above, value } from "./through_FIXTURE.js";
assert.sameValue(above.name, "above");
assert.sameValue(value, 1);
