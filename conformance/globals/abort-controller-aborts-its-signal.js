const c = new AbortController();
const before = c.signal.aborted;
c.abort();
return [before, c.signal.aborted, c.signal.reason.name, c.signal.reason instanceof DOMException];
//> value: [false,true,"AbortError",true]
