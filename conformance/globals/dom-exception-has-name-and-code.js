const e = new DOMException("m", "AbortError");
return [e.name, e.message, e.code, e instanceof Error, String(e), new DOMException().name, DOMException.ABORT_ERR];
//> value: ["AbortError","m",20,true,"AbortError: m","Error",20]
