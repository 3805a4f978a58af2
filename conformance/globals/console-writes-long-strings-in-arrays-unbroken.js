console.log(["x".repeat(100)], { text: "line one\nline two that is long enough to matter for the width of it" });
return null;
//> value: null
//> stdout: "[\n  'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'\n] {\n  text: 'line one\\nline two that is long enough to matter for the width of it'\n}"
