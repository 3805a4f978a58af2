//! tools = ["body"]
const body = await tools.body({ bytes: 1000 });
return [body.size, typeof body.json];
//> value: [1000,"function"]
