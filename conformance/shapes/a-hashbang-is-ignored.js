#!/usr/bin/env node
return "ran";
//> value: "ran"
