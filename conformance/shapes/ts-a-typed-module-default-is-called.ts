//! input = { items = [1, 2, 3] }
interface Input { items: number[] }
export type Output = { sum: number };
export default async function main(input: Input): Promise<Output> {
  return { sum: input.items.reduce((a, b) => a + b, 0) };
}
//> value: {"sum":6}
