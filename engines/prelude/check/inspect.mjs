// console.log of one value, against util.format.
import util from 'node:util';

const values = String.raw`
undefined
null
true
0
-0
1.5
NaN
-Infinity
123n
Symbol('x')
Symbol()
[Symbol('a\nb')]
['']
['it\'s']
['it\'s "q"']
['it\'s "q" ${'`'}t']
['a\nb\tc\\d\x00\x7f\x9f']
['\ud83d']
['\ude00x']
['😀']
['x'.repeat(200)]
['line one is long enough\nline two is long enough\nline three is long enough too, really']
{a: 'line one is long enough\nline two is long enough\nline three is long enough too, really'}
['y'.repeat(10001)]
{}
[]
[[]]
[{}]
{a:{}}
{a:1,b:'two',c:[3]}
{a:{b:{c:{}}}}
{a:{b:{c:{d:1}}}}
{a:{b:{c:[1]}}}
{a:{b:{c:[]}}}
{'a-b':1,'$x':2,_y:3,'9':4,'':5,ü:6,'a b':7}
{[Symbol('s')]:1,[Symbol.iterator]:2}
{['__proto__']:1}
{get a(){return 1}}
{set a(v){}}
{get a(){return 1},set a(v){}}
Object.create(null)
Object.assign(Object.create(null),{a:1})
Object.create({})
Object.create(Object.create(null))
Object.create({constructor: 5})
Object.create({a:1})
new (class Foo{})
new (class Foo{constructor(){this.a=1}})
new (class extends Map{})
new (class Foo extends Map{constructor(){super([[1,2]]);this.x=1}})
new (class Foo extends Array{})
new (class Foo extends Array{constructor(){super();this.push(1,2)}})
new (class Foo extends Error{})('m')
new (class {})
new (class Foo{get [Symbol.toStringTag](){return 'Bar'}})
({[Symbol.toStringTag]:'Tag',a:1})
({[Symbol.toStringTag]:''})
Object.defineProperty({}, Symbol.toStringTag, {value:'T'})
function f(){}
function(){}
(()=>{})
async function g(){}
function* h(){}
async function* k(){}
async()=>{}
class A{}
class A extends Map{}
class extends Array{}
class{}
class A{static x=1}
Object.assign(function f(){}, {a:1,b:2})
Object.assign(()=>{}, {a:1})
Object.setPrototypeOf(function f(){}, null)
Math.max
Math
JSON
Reflect
globalThis.Atomics === undefined ? 1 : 1
[1,2,3]
[1,,3]
[,]
[,,1]
[1,,,]
new Array(5)
new Array(4294967295)
Object.assign([1,2],{a:1})
Object.assign([1,,2],{'-1':1, x:2})
[undefined,null]
[1,2,3,4,5,6]
[1,2,3,4,5,6,7]
Array.from({length:27},(_, i)=>i)
Array.from({length:101},(_, i)=>i)
Array.from({length:200},(_, i)=>i*i*i)
Array.from({length:150},(_, i)=>'item'+i)
Array.from({length:10},(_, i)=>'a longer item number '+i)
Array.from({length:7},(_, i)=>({i}))
Array.from({length:20},(_, i)=>i%2?i:'s'+i)
Array.from({length:12},(_, i)=>-i*1.5)
Array.from({length:30},(_, i)=>BigInt(i)**10n)
Array.from({length:8},(_, i)=>[i,i+1])
Array.from({length:8},(_, i)=>[i,[i,[i]]])
Array.from({length:120},(_, i)=>i%7===0?'x'.repeat(i%13):i)
[[1,[2,[3,[4]]]]]
[['a','b'],['c','d']]
{a:[1,2,3],b:{c:[4,5,6]}}
{a:'x'.repeat(30),b:'y'.repeat(30),c:'z'.repeat(30)}
{aaaaaaaaaaaaaaaa:1111111111,bbbbbbbbbbbbbbbbbb:222222222222,cccccccccccc:3333333,d:4}
{aaaaaaaaaaaaaaaa:1111111111,bbbbbbbbbbbbbbbbbb:222222222222,cccccccccccc:333333,d:4}
{a:{b:{c:1},d:2},e:3}
{a:{b:1},c:{d:{e:{f:1}}}}
[{a:1,b:2},{a:3,b:4}]
[{id:1,name:'Alice',tags:['x','y'],nested:{a:{b:1}}},{id:2,name:'Bob',tags:[],nested:null}]
{users:[{name:'a',roles:['x','y','z'],address:{city:'Z',geo:{lat:1,lng:2}}}],total:1,next:null}
(()=>{const a={};a.self=a;return a})()
(()=>{const a={b:{}};a.b.a=a;a.b.b=a.b;return a})()
(()=>{const a=[];a.push(a,[a]);return a})()
(()=>{const m=new Map();m.set('self',m);return m})()
(()=>{const a={x:1};return [a,a]})()
new Map()
new Map([[1,2]])
new Map([['a',{b:1}],[{k:1},[1,2]]])
new Map(Array.from({length:101},(_, i)=>[i,i]))
new Set()
new Set([1,'a',{b:2}])
new Set(Array.from({length:101},(_, i)=>i))
Object.assign(new Map([[1,2]]),{x:1})
Object.assign(new Set([1]),{x:1})
{a:{b:{c:new Map([[1,2]]),d:new Set([1])}}}
new WeakMap()
new WeakSet()
new Date(0)
new Date(NaN)
Object.assign(new Date(0),{a:1})
[new Date(0)]
{a:{b:{c:new Date(0)}}}
/a+b/gi
Object.assign(/x/,{a:1})
[/x/y]
{a:{b:{c:/x/}}}
new Number(3)
new Number(-0)
new String('abc')
Object.assign(new String('abc'),{x:1})
new Boolean(false)
Object(1n)
Object(Symbol('q'))
[new String('a'), new Number(1)]
new (class Foo extends String{})('z')
new Uint8Array(3)
new Uint8Array([1,2,255])
new Float64Array([1.5,-0,NaN])
new BigInt64Array([1n,-2n])
new Uint8Array(0)
new Uint8Array(200)
new Int16Array(20)
Object.assign(new Uint8Array(2),{a:1})
new ArrayBuffer(4)
new ArrayBuffer(0)
new ArrayBuffer(120)
new DataView(new ArrayBuffer(2))
{a:new ArrayBuffer(2)}
Promise.resolve(4)
Promise.resolve({a:{b:{c:{}}}})
new Promise(()=>{})
(()=>{const p=Promise.reject(new RangeError('no'));p.catch(()=>{});return p})()
(()=>{const p=Promise.reject(3);p.catch(()=>{});return p})()
[Promise.resolve('x')]
(function*(){})()
(async function*(){})()
[][Symbol.iterator]()
''[Symbol.iterator]()
new Proxy({a:1},{})
new Proxy([1,2],{})
new Proxy(function f(){},{})
new Proxy({a:1},{get(){throw 1},ownKeys(){throw 2},getPrototypeOf(){throw 3},getOwnPropertyDescriptor(){throw 4}})
new Proxy(class A{},{})
(()=>{const {proxy,revoke}=Proxy.revocable({}, {});revoke();return proxy})()
[new Proxy({a:{b:{c:{}}}},{})]
(function(){return arguments})(1,2)
(function(){return arguments})()
[(function(){return arguments})('a')]
new Error('boom')
new Error('')
new TypeError('bad')
[new Error('in')]
{e:new Error('in')}
{a:{e:new Error('deep')}}
Object.assign(new Error('x'),{code:'E_X',info:{a:1}})
new Error('x',{cause:new Error('y')})
new Error('x',{cause:'text'})
new Error('x',{cause:{a:1}})
new AggregateError([new Error('a'),new TypeError('b')],'many')
Object.assign(new Error('x'),{name:'Custom'})
Object.assign(new Error('x'),{name:'CustomError'})
(()=>{const e=new Error('x');e.name='FooError';e.message='changed';return e})()
(()=>{class MyError extends Error{constructor(m){super(m);this.name='MyError'}}return new MyError('q')})()
(()=>{class MyError extends TypeError{}return new MyError('q')})()
(()=>{class Weird extends Error{get name(){return 'Nope'}}return new Weird('q')})()
(()=>{const e=new Error('x');e.stack='custom stack';return e})()
(()=>{const e=new Error('x');e.stack=undefined;return e})()
(()=>{const e=new Error('x');delete e.stack;return e})()
(()=>{const e=new Error('line1\nline2');return e})()
(()=>{const e=new Error('x');Object.setPrototypeOf(e,null);return e})()
Object.setPrototypeOf(new Map([[1,2]]),null)
Object.setPrototypeOf([1,2],null)
Object.setPrototypeOf(new Uint8Array(2),null)
Object.setPrototypeOf(new Date(0),null)
Object.setPrototypeOf(/x/g,null)
Object.setPrototypeOf(new Set([1]),null)
Object.setPrototypeOf(new Number(1),null)
({constructor:'x'})
({constructor:{name:'Fake'}})
({constructor:function Bar(){}})
({toString:null,valueOf:null})
({a:1n,b:Symbol('c'),c:undefined,d:null,e:()=>{},f:class Q{}})
({[Symbol.for('nodejs.util.inspect.custom')](){return 'CUSTOM'}})
[{[Symbol.for('nodejs.util.inspect.custom')](){return 'two\nlines'}}]
({[Symbol.for('nodejs.util.inspect.custom')](depth){return {d:depth}}})
({x:{[Symbol.for('nodejs.util.inspect.custom')](depth){return {d:depth}}}})
Object.defineProperty({a:1},'hidden',{value:2})
Object.freeze({a:1})
[1.0,2.50,1e21,1e-7]
['a','b','c','d','e','f','g','h','i','j','k','l','m','n']
{f(){},g:async()=>{},h:function*(){}}
{a:[[[[]]]]}
{a:[[[{}]]]}
[null,[null,[null,[null]]]]
{very:{deep:{nest:{ing:1}},arr:[[[[1]]]]},m:new Map([[{a:{b:{}}},{c:{d:{}}}]])}
Array(3).fill({a:1,b:{c:2}})
Array.from({length:3},()=>Array.from({length:30},(_, i)=>i))
{matrix:[[1,0,0],[0,1,0],[0,0,1]],name:'identity',meta:{det:1,tr:3,sym:true,posdef:true,inv:'itself'}}
new URL('https://u:p@example.com:8080/a?b=c#d')
[new URL('http://a/')]
{a:{b:{c:new URL('http://a/')}}}
new URLSearchParams('a=1&b=2&a=3')
new URLSearchParams()
new Headers({b:'2','X-A':'1'})
new AbortController()
AbortSignal.abort('r')
new Blob(['abc'],{type:'text/plain'})
new File(['abc'],'n.txt',{type:'text/plain',lastModified:7})
new TextDecoder()
new EventTarget()
new DOMException('m','AbortError')
new FormData()
`.trim().split('\n');

const frames = (text) => text.replace(/(\n *at [^\n}]*[^\n},])+/g, '\n    at <frames>');

export default function check({ fresh, is }) {
  const guest = fresh();
  for (const text of values) {
    guest.clear();
    const host = (0, eval)(`(${text})`);
    let got;
    try {
      guest.run(`console.log((${text}))`);
      got = guest.stdout().join('\n');
    } catch (error) {
      got = `threw ${error}`;
    }
    is('inspect', text, frames(got), frames(util.format(host)));
  }

  const hostile = [
    ['a tree of accessors ends', `const make = (n) => Object.defineProperties({}, Object.fromEntries(Array.from({ length: n }, (_, i) => ['k' + i, { enumerable: true, get() { throw i; } }]))); console.log(make(50000))`],
    ['a wide tree ends', `const wide = (d) => d === 0 ? 1 : Array.from({ length: 90 }, () => wide(d - 1)); console.dir(wide(3), { depth: null })`],
    ['a deep list ends', `let list = null; for (let i = 0; i < 100000; i++) list = { list }; console.dir(list, { depth: null })`],
    ['many keys end', `const o = {}; for (let i = 0; i < 200000; i++) o['key' + i] = 'v'.repeat(20); console.log(o)`],
    ['a long prototype chain ends', `let o = {}; for (let i = 0; i < 5000; i++) o = Object.create(o); console.log(o)`],
    ['nested proxies end', `let p = {}; for (let i = 0; i < 1000; i++) p = new Proxy(p, {}); console.log(p)`],
    ['a huge string in a list is cut', `console.log(['x'.repeat(1e6)])`],
  ];
  for (const [name, code] of hostile) {
    const other = fresh();
    const start = Date.now();
    other.run(code);
    is('inspect', name, other.stdout().length === 1 && other.stdout()[0].length < (256 << 10) + 8 && Date.now() - start < 3000);
  }
  const other = fresh();
  other.run(`
    console.log({ toString() { throw 1; } });
    console.log(new Proxy({}, { get() { throw 1; } }));
    console.log({ get [Symbol.toStringTag]() { throw 1; } });
    console.log('%s %d', { toString() { throw 1; } }, { valueOf() { throw 1; } });
    console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { throw 1; } });
    console.log(Object.create(new Proxy({}, { get() { throw 1; }, getOwnPropertyDescriptor() { throw 2; }, getPrototypeOf() { throw 3; } })));
    const e = new Error('m'); Object.defineProperty(e, 'stack', { get() { throw 1; } }); Object.defineProperty(e, 'name', { get() { throw 1; } }); console.log(e);
  `);
  is('inspect', 'values that throw are still shown', other.stdout().length, 7);
}
