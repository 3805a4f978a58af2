return [() => ({ length: 2, 0: "a", 1: "a" }), () => [1], () => ["a"], () => null].map(ownKeys => {
  try { return Reflect.ownKeys(new Proxy(Object.freeze({}), { ownKeys })).length; } catch (error) { return error.name; }
});
//> value: ["TypeError","TypeError","TypeError","TypeError"]
