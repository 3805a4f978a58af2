const t = new EventTarget();
let n = 0;
const f = () => n++;
t.addEventListener("x", f);
t.addEventListener("x", f);
t.dispatchEvent(new Event("x"));
t.removeEventListener("x", f);
t.dispatchEvent(new Event("x"));
return n;
//> value: 1
