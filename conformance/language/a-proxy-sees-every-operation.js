const seen = [];
const p = new Proxy({}, new Proxy({}, { get(_, trap) { return (...args) => { seen.push(trap); return Reflect[trap](...args); }; } }));
p.a = 1; p.a; "a" in p; delete p.a; Object.keys(p);
return seen;
//> value: ["set","getOwnPropertyDescriptor","defineProperty","get","has","deleteProperty","ownKeys"]
