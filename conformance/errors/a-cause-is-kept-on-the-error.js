try {
  try { null.x; } catch (cause) { throw new Error("outer", { cause }); }
} catch (error) {
  return [error.message, error.cause.name, Object.keys(error), "cause" in new Error("none")];
}
//> value: ["outer","TypeError",[],false]
