// Explicit resource management: `using` needs an engine or a compiler that has it.
const order = [];
{
  using a = { [Symbol.dispose]() { order.push("a"); } };
  using b = { [Symbol.dispose]() { order.push("b"); } };
  order.push("body");
}
return order;
//> value: ["body","b","a"]
