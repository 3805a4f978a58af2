const f = new FormData();
f.append("a", "1");
f.append("b", "2");
f.append("a", 3);
const all = f.getAll("a");
f.set("a", "only");
f.delete("b");
return [all, [...f], f.has("b"), f.get("zz")];
//> value: [["1","3"],[["a","only"]],false,null]
