//! tools = ["echo"]
const reply = await tools.echo([1, 2]);
export default reply.length;
//> value: 2
