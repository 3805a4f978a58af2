const a = new AbortController(), b = new AbortController();
const any = AbortSignal.any([a.signal, b.signal]);
const before = any.aborted;
b.abort("b");
return [before, any.aborted, any.reason, AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort("x")]).reason];
//> value: [false,true,"b",false,"x"]
