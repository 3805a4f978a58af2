//! tools = ["echo"]
//! input = "ping"
export default async (text) => {
  return `${await tools.echo(text)} pong`;
};
//> value: "ping pong"
