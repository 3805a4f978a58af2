return { p: Promise.resolve(1) };
//> value: {"p":{}}
