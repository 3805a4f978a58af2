//! tools = ["echo", "fail"]
const p = tools.echo(1), q = tools.fail("x");
q.catch(() => {});
return [p instanceof Promise, q instanceof Promise, await p.then(x => x + 1)];
//> value: [true,true,2]
