//! tools = ["body"]
const buffer = await (await tools.body({ bytes: 1000 })).arrayBuffer();
return [buffer instanceof ArrayBuffer, buffer.byteLength];
//> value: [true,1000]
