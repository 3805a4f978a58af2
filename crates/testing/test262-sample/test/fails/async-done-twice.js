/*---
description: Done is done
flags: [async, noStrict]
---*/

$DONE();
$DONE();
