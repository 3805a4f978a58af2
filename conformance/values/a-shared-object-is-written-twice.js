const shared = { n: 1 };
return [shared, shared];
//> value: [{"n":1},{"n":1}]
