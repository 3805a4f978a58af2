//! tools = ["fail"]
try {
  await tools.fail("no such city");
} catch (error) {
  return [error instanceof Error, typeof error.name, error.message.includes("no such city"), typeof error.stack];
}
//> value: [true,"string",true,"string"]
