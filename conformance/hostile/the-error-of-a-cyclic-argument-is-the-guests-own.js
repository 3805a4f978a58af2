//! tools = ["echo"]
const o = {};
o.o = o;
try { await tools.echo(o); } catch (error) { return [error.constructor === TypeError, error.constructor.constructor === Function]; }
//> value: [true,true]
