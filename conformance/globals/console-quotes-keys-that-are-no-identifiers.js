console.log({ plain: 1, "with space": 2, "kebab-case": 3, 1: 4, "it's": 5, $ok_1: 7, "": 8, "ü": 9 });
return null;
//> value: null
//> stdout: "{\n  '1': 4,\n  plain: 1,\n  'with space': 2,\n  'kebab-case': 3,\n  \"it's\": 5,\n  '$ok_1': 7,\n  '': 8,\n  'ü': 9\n}"
