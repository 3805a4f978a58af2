const tag = (strings, ...values) => [strings, strings.raw, values];
return [tag`a\n${1}b${2}`, String.raw`c\d${3}`];
//> value: [[["a\n","b",""],["a\\n","b",""],[1,2]],"c\\d3"]
