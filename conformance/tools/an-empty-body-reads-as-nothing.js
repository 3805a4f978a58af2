//! tools = ["body"]
const body = await tools.body({ bytes: 0 });
return [body.size, await body.text()];
//> value: [0,""]
