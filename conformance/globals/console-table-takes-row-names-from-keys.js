console.table({ first: { n: 1 }, second: { n: 2, nested: { deep: 1 } } });
return null;
//> value: null
//> stdout: "┌─────────┬───┬─────────────┐\n│ (index) │ n │ nested      │\n├─────────┼───┼─────────────┤\n│ first   │ 1 │             │\n│ second  │ 2 │ { deep: 1 } │\n└─────────┴───┴─────────────┘"
