class P { constructor() { this.x = 1; } get y() { return 2; } }
const c = structuredClone(new P());
return [c instanceof P, Object.getPrototypeOf(c) === Object.prototype, c, Object.getOwnPropertyDescriptor(structuredClone({ get g() { return 3; } }), "g").value];
//> value: [false,true,{"x":1},3]
