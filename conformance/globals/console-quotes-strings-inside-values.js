console.log(["plain", "it's", 'say "hi"', `all ' " \` three`, "line\nbreak", "tab\tand \\", "é \u0001 \x7f"]);
return null;
//> value: null
//> stdout: "[\n  'plain',\n  \"it's\",\n  'say \"hi\"',\n  'all \\' \" ` three',\n  'line\\nbreak',\n  'tab\\tand \\\\',\n  'é \\x01 \\x7F'\n]"
