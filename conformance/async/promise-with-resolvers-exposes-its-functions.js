const { promise, resolve } = Promise.withResolvers();
queueMicrotask(() => resolve("later"));
return promise;
//> value: "later"
