const h = new Headers({ "Content-Type": "text/plain", "X-A": "1" });
h.append("x-a", "2");
h.set("X-B", " trimmed ");
h.delete("content-TYPE");
return [h.get("X-a"), h.has("x-b"), h.get("x-b"), h.get("content-type"), [...h]];
//> value: ["1, 2",true,"trimmed",null,[["x-a","1, 2"],["x-b","trimmed"]]]
