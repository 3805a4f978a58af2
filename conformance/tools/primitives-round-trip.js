//! tools = ["echo"]
const out = [];
for (const x of [0, -1.5, 1e21, 5e-324, 9007199254740991, "", "text", true, false, null]) out.push(await tools.echo(x));
return out;
//> value: [0,-1.5,1e+21,5e-324,9007199254740991,"","text",true,false,null]
