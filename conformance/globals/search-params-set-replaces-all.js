const p = new URLSearchParams("a=1&b=2&a=3");
p.set("a", "9");
p.set("new", "n");
const seen = [];
p.forEach((value, key) => seen.push(`${key}:${value}`));
return seen;
//> value: ["a:9","b:2","new:n"]
