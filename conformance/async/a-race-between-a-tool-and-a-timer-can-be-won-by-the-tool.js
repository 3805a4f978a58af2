//! tools = ["echo"]
const late = new Promise(resolve => setTimeout(resolve, 5000, "timer"));
return Promise.race([tools.echo("tool"), late]);
//> value: "tool"
