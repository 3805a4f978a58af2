//! tools = ["body"]
const body = await tools.body({ bytes: 2000000 });
return [body.size, (await body.bytes()).length];
//> value: [2000000,2000000]
