console.table([{ id: 1, name: "Ann" }, { id: 2, name: "Bo", age: 30 }]);
return null;
//> value: null
//> stdout: "┌─────────┬────┬───────┬─────┐\n│ (index) │ id │ name  │ age │\n├─────────┼────┼───────┼─────┤\n│ 0       │ 1  │ 'Ann' │     │\n│ 1       │ 2  │ 'Bo'  │ 30  │\n└─────────┴────┴───────┴─────┘"
