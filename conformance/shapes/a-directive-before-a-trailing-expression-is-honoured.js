"use strict";
(function () { return this === undefined; })()
//> value: true
