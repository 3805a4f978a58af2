//! tools = ["echo", "inc"]
return [Object.keys(tools).sort(), "fail" in tools, tools.fail === undefined];
//> value: [["echo","inc"],false,true]
