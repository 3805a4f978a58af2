//! tools = ["echo", "inc"]
return [await external_echo({ a: 1 }), typeof external_inc, typeof globalThis.external_echo];
//> value: [{"a":1},"function","function"]
