const kinds = {
  sort: () => { const f = () => { [2, 1].sort(f); return 0; }; f(); },
  replace: () => { const f = () => "a".replace(/a/, f); f(); },
  text: () => { const o = { toString() { return "" + o; } }; String(o); },
  json: () => { const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o); },
  proxy: () => { const p = new Proxy({}, { get(t, k) { return p[k]; } }); p.x; },
  bound: () => { let f = () => 1; const g = () => f(); f = g.bind(null); f(); },
  construct: () => { class A { constructor() { new A(); } } new A(); },
};
return Object.keys(kinds).map(name => { try { kinds[name](); return "returned"; } catch (error) { return error instanceof RangeError; } });
//> value: [true,true,true,true,true,true,true]
