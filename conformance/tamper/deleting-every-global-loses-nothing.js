const { ownKeys } = Reflect;
console.log("before");
for (const key of ownKeys(globalThis)) { try { delete globalThis[key]; } catch {} }
return { ended: "well" };
//> value: {"ended":"well"}
//> stdout: "before"
