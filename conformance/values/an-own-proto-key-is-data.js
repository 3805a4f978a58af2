return JSON.parse('{"__proto__":{"x":1},"a":2}');
//> value: {"__proto__":{"x":1},"a":2}
