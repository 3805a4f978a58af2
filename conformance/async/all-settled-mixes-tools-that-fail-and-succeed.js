//! tools = ["echo", "fail"]
const results = await Promise.allSettled([tools.echo(1), tools.fail("no"), tools.echo(3)]);
return results.map(r => r.status === "fulfilled" ? r.value : r.reason instanceof Error);
//> value: [1,true,3]
