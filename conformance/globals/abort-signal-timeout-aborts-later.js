const signal = AbortSignal.timeout(10);
const before = signal.aborted;
await new Promise(resolve => setTimeout(resolve, 40));
return [before, signal.aborted, signal.reason.name];
//> value: [false,true,"TimeoutError"]
