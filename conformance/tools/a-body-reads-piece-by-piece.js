//! tools = ["body"]
let total = 0, pieces = 0;
for await (const piece of await tools.body({ bytes: 700000 })) { total += piece.length; pieces++; }
return [total, pieces > 1];
//> value: [700000,true]
