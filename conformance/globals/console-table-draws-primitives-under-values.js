console.table(["x", 2, true]);
return null;
//> value: null
//> stdout: "┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 'x'    │\n│ 1       │ 2      │\n│ 2       │ true   │\n└─────────┴────────┘"
