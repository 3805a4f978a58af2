let calls = 0;
return { then(resolve) { calls++; resolve({ calls }); resolve("again"); throw 3; } };
//> value: {"calls":1}
