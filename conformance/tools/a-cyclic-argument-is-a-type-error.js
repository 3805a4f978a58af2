//! tools = ["echo"]
const o = {};
o.o = o;
try { await tools.echo(o); } catch (error) { return error instanceof TypeError; }
//> value: true
