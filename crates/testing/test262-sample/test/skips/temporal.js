/*---
description: Dates and times
features: [Temporal]
---*/

Temporal.Now.instant();
