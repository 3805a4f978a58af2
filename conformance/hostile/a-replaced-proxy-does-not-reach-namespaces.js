//! namespaces = ["n.*"]
//! oracle = false
globalThis.Proxy = Reflect.get = Object.prototype.get = () => "mine";
Object.prototype.echo = "mine";
return [await tools.n.echo(1), await tools.n.inc()];
//> value: [1,1]
