return ["$42 €17".match(/(?<=\$)\d+/)[0], "$42 €17".match(/(?<!\$)\b\d+/)[0], "a1 b2".match(/[a-z](?=2)/)[0], "ab".match(/a(?!c)/).index];
//> value: ["42","17","b",0]
