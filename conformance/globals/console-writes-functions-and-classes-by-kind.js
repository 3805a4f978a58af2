class A {}
class B extends A { static s = 1; }
console.log(() => {}, function named() {}, async () => {}, function* gen() {}, async function* ag() {}, A, B, class {}, { m() {} }, Math.max);
return null;
//> value: null
//> stdout: "[Function (anonymous)] [Function: named] [AsyncFunction (anonymous)] [GeneratorFunction: gen] [AsyncGeneratorFunction: ag] [class A] [class B extends A] { s: 1 } [class (anonymous)] { m: [Function: m] } [Function: max]"
