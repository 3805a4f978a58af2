const p = new URLSearchParams("a=1&b=2&a=3");
const seen = [p.get("a"), p.getAll("a"), p.has("b"), p.get("zz"), p.has("a", "3"), p.size];
p.delete("a", "1");
p.append("c", "4");
p.sort();
return [seen, [...p.keys()], [...p.values()], p.toString()];
//> value: [["1",["1","3"],true,null,true,3],["a","b","c"],["3","2","4"],"a=3&b=2&c=4"]
