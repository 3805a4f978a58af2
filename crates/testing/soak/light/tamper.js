Object.prototype.then = 1;
Array.prototype.push = null;
JSON.stringify = null;
return [1];
//> value: [1]
