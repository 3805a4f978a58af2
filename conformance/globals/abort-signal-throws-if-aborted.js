const c = new AbortController();
c.signal.throwIfAborted();
c.abort(new RangeError("stop"));
c.signal.throwIfAborted();
//> error: thrown RangeError
