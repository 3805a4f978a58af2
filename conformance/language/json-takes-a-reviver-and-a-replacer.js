return [JSON.parse('{"a":[1,2],"d":"1970-01-01T00:00:00.000Z"}', (key, value) => key === "d" ? new Date(value).getTime() : value), JSON.stringify({ b: 1, a: [2, { c: 3 }] }, ["a", "c"], 1)];
//> value: [{"a":[1,2],"d":0},"{\n \"a\": [\n  2,\n  {\n   \"c\": 3\n  }\n ]\n}"]
