const t = new EventTarget(), c = new AbortController();
let n = 0;
t.addEventListener("x", () => n++, { signal: c.signal });
t.dispatchEvent(new Event("x"));
c.abort();
t.dispatchEvent(new Event("x"));
return n;
//> value: 1
