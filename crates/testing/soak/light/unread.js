//! tools = ["body"]
const unread = await tools.body({ bytes: 50000000 });
return unread.size;
//> value: 50000000
