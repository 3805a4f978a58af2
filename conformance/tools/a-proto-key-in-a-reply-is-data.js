//! tools = ["proto"]
const reply = await tools.proto();
return [reply.ok, ({}).polluted === undefined, ({}).polluted2 === undefined, Object.getPrototypeOf(reply) === Object.prototype, Object.hasOwn(reply, "__proto__")];
//> value: [1,true,true,true,true]
