return [globalThis === (0, eval)("this"), globalThis === Function("return this")(), globalThis.globalThis === globalThis];
//> value: [true,true,true]
