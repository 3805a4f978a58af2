const t = new EventTarget(), seen = [];
t.addEventListener("x", () => seen.push("first"));
t.addEventListener("x", { handleEvent(event) { seen.push(event.type); } });
t.addEventListener("x", () => seen.push("once"), { once: true });
t.dispatchEvent(new Event("x"));
t.dispatchEvent(new Event("x"));
return seen;
//> value: ["first","x","once","first","x"]
