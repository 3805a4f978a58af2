return new Proxy({}, {
  ownKeys: () => ["a", "b"],
  getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 0 }),
  get: (_, key) => key === "toJSON" || key === "then" ? undefined : `trap ${key}`,
});
//> value: {"a":"trap a","b":"trap b"}
