//! tools = ["echo", "fail"]
const calls = [...Array(30).keys()].map(i => i % 3 ? tools.echo({ i }) : tools.fail("no"));
const all = await Promise.allSettled(calls);
return all.filter(r => r.status === "fulfilled").length;
//> value: 20
