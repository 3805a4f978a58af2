//! tools = ["body"]
const body = await tools.body({ bytes: 200000 });
return (await body.bytes()).length;
//> value: 200000
