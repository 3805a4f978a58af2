/*---
description: Done before the script ends
flags: [async]
---*/

$DONE();
