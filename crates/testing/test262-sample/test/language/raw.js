/*---
description: A raw test has nothing before it and is run once, in sloppy mode
flags: [raw]
---*/

if (typeof assert !== "undefined" || typeof Test262Error !== "undefined") throw "there is a harness";
if ((function () { return this; })() === undefined) throw "this is strict";
