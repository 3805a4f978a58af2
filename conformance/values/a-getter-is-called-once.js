let calls = 0;
return { get a() { return ++calls; }, get b() { return calls; } };
//> value: {"a":1,"b":1}
