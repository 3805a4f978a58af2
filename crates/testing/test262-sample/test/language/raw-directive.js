"use strict";
/*---
description: The first statement of a raw test can be its directive
flags: [raw]
---*/

if ((function () { return this; })() !== undefined) throw "this is sloppy";
