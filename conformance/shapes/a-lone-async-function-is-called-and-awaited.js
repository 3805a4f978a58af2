//! input = 20
async function run(n) {
  await null;
  return n + 1;
}
//> value: 21
