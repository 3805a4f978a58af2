//! tools = ["body"]
const bytes = await (await tools.body({ bytes: 1000 })).bytes();
return [bytes instanceof Uint8Array, bytes.length];
//> value: [true,1000]
