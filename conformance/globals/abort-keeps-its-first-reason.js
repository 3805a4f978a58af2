const c = new AbortController();
c.abort("first");
c.abort("second");
return c.signal.reason;
//> value: "first"
