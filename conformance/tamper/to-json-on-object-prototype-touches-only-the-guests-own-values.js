//! tools = ["echo"]
Object.prototype.toJSON = () => "hijacked";
const reply = await tools.echo({ a: 1 });
delete Object.prototype.toJSON;
return reply;
//> any: value "hijacked" | value {"a":1}
