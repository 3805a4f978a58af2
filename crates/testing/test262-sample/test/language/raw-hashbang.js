#!/bin/sh is only a comment
/*---
description: The first bytes of a raw test are its own
flags: [raw]
features: [hashbang]
---*/

var after = 1;
