console.log([{ id: 1, tags: ["a", "b"] }, { id: 2, tags: [] }]);
console.log({ rows: [{ id: 1, when: new Date(0), ok: true }, { id: 2, when: null, ok: false }], total: 2 });
return null;
//> value: null
//> stdout: "[ { id: 1, tags: [ 'a', 'b' ] }, { id: 2, tags: [] } ]"
//> stdout: "{\n  rows: [\n    { id: 1, when: 1970-01-01T00:00:00.000Z, ok: true },\n    { id: 2, when: null, ok: false }\n  ],\n  total: 2\n}"
