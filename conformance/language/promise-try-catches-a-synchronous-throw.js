const a = await Promise.try(() => { throw new Error("sync"); }).catch(error => error.message);
return [a, await Promise.try((x, y) => x + y, 1, 2)];
//> value: ["sync",3]
