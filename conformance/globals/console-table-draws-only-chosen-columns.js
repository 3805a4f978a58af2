console.table([{ a: 1, b: 2, c: 3 }, { a: 4, b: 5, c: 6 }], ["c", "a"]);
return null;
//> value: null
//> stdout: "┌─────────┬───┬───┐\n│ (index) │ c │ a │\n├─────────┼───┼───┤\n│ 0       │ 3 │ 1 │\n│ 1       │ 6 │ 4 │\n└─────────┴───┴───┘"
