//! tools = ["echo"]
async function load<T>(ids: readonly [number, ...number[]]): Promise<T[]> {
  const out: T[] = [];
  for (const id of ids) out.push((await tools.echo({ id })) as T);
  return out;
}
return await load<{ id: number }>([1, 2]);
//> value: [{"id":1},{"id":2}]
