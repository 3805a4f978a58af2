//! tools = ["echo"]
//! input = { n = 5 }
async ({ n }) => {
  const reply = await tools.echo({ n });
  return reply.n + 1;
};
//> value: 6
