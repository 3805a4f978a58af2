//! tools = ["echo"]
return Object.keys(await tools.echo({ zebra: 1, apple: 2, mango: 3, 10: 4, 9: 5 }));
//> value: ["9","10","zebra","apple","mango"]
