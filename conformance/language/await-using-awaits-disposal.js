// Explicit resource management: `await using` needs an engine or a compiler that has it.
const order = [];
{
  await using a = { async [Symbol.asyncDispose]() { await null; order.push("closed"); } };
  order.push("body");
}
order.push("after");
return order;
//> value: ["body","closed","after"]
