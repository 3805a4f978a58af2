//! tools = ["echo"]
const sent = { a: 1, list: [true, null, "x", 1.5, [], {}], nested: { deep: { ok: false } } };
return tools.echo(sent);
//> value: {"a":1,"list":[true,null,"x",1.5,[],{}],"nested":{"deep":{"ok":false}}}
