const reply = {};

return reply.data.items;
//> error: thrown TypeError
//> line: 3
