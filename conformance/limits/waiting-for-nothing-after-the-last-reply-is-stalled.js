//! tools = ["echo"]
tools.echo("reply").then(text => console.log(text));
await new Promise(() => {});
//> error: stalled
//> stdout: "reply"
