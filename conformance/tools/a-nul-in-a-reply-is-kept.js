//! tools = ["nul"]
const text = await tools.nul();
return [text.length, text.charCodeAt(1), text];
//> value: [3,0,"a\u0000b"]
