console.log(["apple", "fig", "banana", "kiwi", "cherry", "date", "elderberry", "grape"]);
return null;
//> value: null
//> stdout: "[\n  'apple',      'fig',\n  'banana',     'kiwi',\n  'cherry',     'date',\n  'elderberry', 'grape'\n]"
