/*---
description: What the last statement gives is nobody's business
---*/

var object = { get property() { throw "read"; }, toJSON: function () { throw "written"; } };
object;
