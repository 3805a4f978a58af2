//! tools = ["echo"]
return tools.echo({ u: undefined, f() {}, s: Symbol("s"), list: [undefined, () => 1, NaN], n: -0, d: new Date(0), m: new Map([[1, 2]]) });
//> value: {"list":[null,null,null],"n":0,"d":"1970-01-01T00:00:00.000Z","m":{}}
