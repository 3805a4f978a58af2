//! namespaces = ["n.*"]
//! oracle = false
return [await tools.n.echo({ a: 1 }), await tools.n.inc(), await tools.n["echo"](), typeof tools.n.anything];
//> value: [{"a":1},1,null,"function"]
