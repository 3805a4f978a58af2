try {
  await Promise.any([Promise.reject(1), Promise.reject("b")]);
} catch (error) {
  return [error instanceof AggregateError, error.errors];
}
//> value: [true,[1,"b"]]
