let calls = 0;
const tree = () => { calls++; return { get a() { return tree(); }, get b() { return tree(); } }; };
console.log(tree());
return calls;
//> value: 1
//> stdout: "{ a: [Getter], b: [Getter] }"
