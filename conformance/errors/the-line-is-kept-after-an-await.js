async function work() {
  await null;
  await new Promise(resolve => setTimeout(resolve, 1));
  throw new Error("after waiting");
}
return await work();
//> error: thrown Error
//> message: "after waiting"
//> line: 4
