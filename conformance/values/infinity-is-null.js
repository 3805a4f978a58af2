return [Infinity, -Infinity];
//> value: [null,null]
