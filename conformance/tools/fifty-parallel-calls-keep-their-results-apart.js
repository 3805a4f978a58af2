//! tools = ["echo"]
const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => tools.echo({ i })));
return replies.every((reply, i) => reply.i === i);
//> value: true
