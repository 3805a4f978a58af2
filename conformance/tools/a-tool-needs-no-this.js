//! tools = ["echo"]
const { echo } = tools;
return Promise.all([echo(1), [2].map(echo)[0], Reflect.apply(echo, null, [3])]);
//> value: [1,2,3]
