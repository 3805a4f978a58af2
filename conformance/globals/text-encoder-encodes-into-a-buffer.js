const target = new Uint8Array(5);
return [new TextEncoder().encodeInto("a€😀", target), [...target]];
//> value: [{"read":2,"written":4},[97,226,130,172,0]]
