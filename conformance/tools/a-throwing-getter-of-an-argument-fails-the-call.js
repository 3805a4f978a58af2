//! tools = ["echo"]
try { await tools.echo({ get a() { throw new RangeError("mine"); } }); } catch (error) { return [error.name, error.message]; }
//> value: ["RangeError","mine"]
