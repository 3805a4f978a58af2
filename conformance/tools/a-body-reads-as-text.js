//! tools = ["body"]
const text = await (await tools.body({ bytes: 1000 })).text();
return [typeof text, text.length];
//> value: ["string",1000]
