const c = new AbortController();
const seen = [];
c.signal.addEventListener("abort", event => seen.push(event.type, event.target === c.signal));
c.signal.onabort = () => seen.push("on");
c.abort();
c.abort();
return seen;
//> value: ["abort",true,"on"]
