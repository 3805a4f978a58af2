const t = new EventTarget(), seen = [];
t.addEventListener("x", event => { seen.push(1); event.stopImmediatePropagation(); });
t.addEventListener("x", () => seen.push(2));
t.dispatchEvent(new Event("x"));
return seen;
//> value: [1]
