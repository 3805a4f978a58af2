//! tools = ["echo", "fail"]
Promise.resolve = Promise.reject = Promise.all = Promise.race = Promise.withResolvers = () => { throw new Error("tampered"); };
let failed = false;
try { await tools.fail("x"); } catch { failed = true; }
return [await tools.echo(1), failed];
//> value: [1,true]
