return [() => 1, Symbol("s"), { f() {} }, [Symbol.iterator]].map(x => { try { structuredClone(x); return "cloned"; } catch (error) { return error.name; } });
//> value: ["DataCloneError","DataCloneError","DataCloneError","DataCloneError"]
