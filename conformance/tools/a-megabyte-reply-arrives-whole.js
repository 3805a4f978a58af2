//! tools = ["big"]
const text = await tools.big({ bytes: 1 << 20 });
return [typeof text, text.length];
//> value: ["string",1048576]
