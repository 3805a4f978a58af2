//! namespaces = ["n.*"]
//! oracle = false
return [await tools.n.echo(10n).catch((e) => e.name), await tools.search(10n).catch((e) => e.name)];
//> value: ["TypeError","TypeError"]
