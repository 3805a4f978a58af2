let called = false;
console.log({ get a() { called = true; return 1; }, set b(v) {}, get c() { return 1; }, set c(v) {} });
return called;
//> value: false
//> stdout: "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"
