//! What can be granted of the language: there with its grant, and not without.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod common;

use common::{Kept, body, engine, start, turn, value};
use isolith_core::{Builtin, End, Engine, EngineError, Limits, Step};
use isolith_v8::{Options, V8};
use std::sync::Arc;

const ADD: &str = "(module (memory (export \"m\") 1)
    (func (export \"add\") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))";
const ASK: &str = "(module (import \"m\" \"f\" (func $f (param i32) (result i32)))
    (func (export \"g\") (param i32) (result i32) (i32.add (call $f (local.get 0)) (i32.const 1))))";

/// What V8 compiles with strings of JavaScript.
const STRINGS: &str = "(module (import \"wasm:js-string\" \"length\" (func $length (param externref) (result i32)))
    (func (export \"f\") (param externref) (result i32) (call $length (local.get 0))))";
const SHARES: &str = "(module (memory (export \"m\") 1 1 shared))";
/// Behind a section of nobody's, and a memory of another kind.
const SECOND: &str = "(module (@custom \"x\" (before first) \"\\05\\01\\00\") (memory i64 1 2) (memory 1 1 shared))";

/// A program that has these, with two modules as `add` and `ask`.
async fn with(engine: &V8, builtins: &[Builtin], code: &str) -> End {
    let bytes = |text: &str| format!("new Uint8Array({:?})", wat::parse_str(text).expect("a module"));
    let list = |text: &str| format!("{:?}", wat::parse_str(text).expect("a module"));
    let code = code.replace("new Uint8Array(STRINGS)", &bytes(STRINGS)).replace("SECOND", &list(SECOND));
    let code = format!("const [add, ask] = [{}, {}]; const shared = {}; {code}", bytes(ADD), bytes(ASK), list(SHARES));
    let code = code.replace("SHARED", "shared");
    let mut given = start(Limits::default(), Arc::new(Kept::default()));
    given.bindings.builtins = builtins.to_vec();
    let mut isolate = engine.start(&body(&code), given).await.expect("an isolate");
    match isolate.advance(turn(Vec::new())).await.expect("a step") {
        Step::Done(end, _) => end,
        Step::Calls(calls) => panic!("it asks for {calls:?}"),
    }
}

const COMPILED: &[Builtin] = &[Builtin::WebAssembly];
const SHARED: &[Builtin] = &[Builtin::SharedArrayBuffer];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_granted_works() {
    let engine = engine(Options::default());
    let rows: &[(&[Builtin], &str, &str)] = &[
        (COMPILED, "return new WebAssembly.Instance(new WebAssembly.Module(add)).exports.add(2, 3)", "5"),
        (
            COMPILED,
            "const { module, instance } = await WebAssembly.instantiate(add);
             return [instance.exports.add(1, 1), module instanceof WebAssembly.Module, (await WebAssembly.instantiate(module)).exports.add(2, 2)]",
            "[2,true,4]",
        ),
        (COMPILED, "return WebAssembly.Module.exports(await WebAssembly.compile(add)).map((e) => e.name)", r#"["m","add"]"#),
        (COMPILED, "return [WebAssembly.validate(add), WebAssembly.validate(new Uint8Array(8))]", "[true,false]"),
        (
            COMPILED,
            "return await Promise.all([WebAssembly.compile(new Uint8Array(3)), WebAssembly.instantiate(), WebAssembly.instantiate(ask)]
               .map((p) => p.catch((e) => e.name)))",
            r#"["CompileError","TypeError","TypeError"]"#,
        ),
        (
            COMPILED,
            "const { m } = new WebAssembly.Instance(new WebAssembly.Module(add)).exports; new Uint8Array(m.buffer)[7] = 9; m.grow(1);
             return [m.buffer.byteLength, new Uint8Array(m.buffer)[7]]",
            "[131072,9]",
        ),
        (
            COMPILED,
            "const { instance } = await WebAssembly.instantiate(ask, { m: { f: (x) => x * 2 } }); return instance.exports.g(20)",
            "41",
        ),
        (
            COMPILED,
            "const f = new WebAssembly.Suspending(async (x) => (await null, x * 2));
             const { instance } = await WebAssembly.instantiate(ask, { m: { f } }); return await WebAssembly.promising(instance.exports.g)(20)",
            "41",
        ),
        (
            COMPILED,
            "try { structuredClone(new WebAssembly.Memory({ initial: 1 })); } catch (e) { return e.name; }",
            r#""DataCloneError""#,
        ),
        (
            SHARED,
            "const a = new Int32Array(new SharedArrayBuffer(8)); Atomics.add(a, 1, 5); return [a.buffer.byteLength, Atomics.load(a, 1), Atomics.notify(a, 0)]",
            "[8,5,0]",
        ),
        (SHARED, "return new TextDecoder().decode(new Uint8Array(new SharedArrayBuffer(2)).fill(65))", r#""AA""#),
        (
            SHARED,
            "try { structuredClone([new Uint8Array(new SharedArrayBuffer(8))]); } catch (e) { return e.name; }",
            r#""DataCloneError""#,
        ),
        (
            COMPILED,
            "class M extends WebAssembly.Memory { n = 1 } const m = new M({ initial: 1, maximum: 3 });
             return [m.n, m instanceof WebAssembly.Memory, m.constructor === M, new WebAssembly.Memory({ initial: 2 }).constructor === WebAssembly.Memory, WebAssembly.Memory.name]",
            r#"[1,true,true,true,"Memory"]"#,
        ),
        (
            SHARED,
            "class S extends SharedArrayBuffer {} const s = new S(4); return [s instanceof S, s.slice(1).byteLength, SharedArrayBuffer[Symbol.species] === SharedArrayBuffer, s.growable]",
            "[true,3,true,false]",
        ),
        (
            COMPILED,
            "const strings = new Uint8Array(STRINGS); const options = { builtins: ['js-string'] };
             const { instance } = await WebAssembly.instantiate(strings, {}, options);
             return [instance.exports.f('four'), (await WebAssembly.instantiate(await WebAssembly.compile(strings, options))).exports.f('')]",
            "[4,0]",
        ),
    ];
    for (builtins, code, expected) in rows {
        assert_eq!(with(&engine, builtins, code).await, value(expected), "{code}");
    }
}

// THREAT[T-ENGINE-007]: what is granted leads to what is not.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_is_not_there() {
    let engine = engine(Options::default());
    let names = "return ['WebAssembly', 'SharedArrayBuffer', 'Atomics'].filter((name) => name in globalThis)";
    let rows: &[(&[Builtin], &str, &str)] = &[
        (&[], names, "[]"),
        (COMPILED, names, r#"["WebAssembly"]"#),
        (SHARED, names, r#"["SharedArrayBuffer","Atomics"]"#),
        // However shared memory is asked for: the second look at a getter, more than one memory, a length that is a lie.
        (
            &Builtin::ALL,
            "let n = 0; const tries = [
               () => new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }),
               () => new WebAssembly.Memory({ initial: 1, maximum: 2, get shared() { return n++ > 0; } }).buffer,
               () => new WebAssembly.Module(new Uint8Array(SHARED)),
               () => new WebAssembly.Module(new Uint8Array(SECOND)),
               () => new (Object.getPrototypeOf(WebAssembly.Module.prototype.constructor.prototype).constructor)().buffer,
               () => new WebAssembly.Module.prototype.constructor(new Uint8Array(SHARED)),
               () => new WebAssembly.Memory.prototype.constructor({ initial: 1, maximum: 2, shared: true }),
               () => { Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), 'length', { get: () => 0 }); return new WebAssembly.Module(new Uint8Array(SHARED)); },
               () => { const s = new Uint8Array(new SharedArrayBuffer(SHARED.length)); SHARED.forEach((b, i) => { s[i] = b; }); return new WebAssembly.Module(s.buffer); },
               () => new SharedArrayBuffer(1, { maxByteLength: 2 }),
               () => new SharedArrayBuffer(1).grow(2),
             ];
             const found = [];
             for (const look of tries) try { const it = look(); found.push(it === undefined ? 'nothing' : Object.prototype.toString.call(it)); } catch (e) { found.push(e.name); }
             found.push(...await Promise.all([WebAssembly.compile(new Uint8Array(SHARED)), WebAssembly.instantiate(new Uint8Array(SHARED))].map((p) => p.catch((e) => e.name))));
             return found.join(' ')",
            r#""TypeError [object ArrayBuffer] CompileError CompileError nothing CompileError TypeError CompileError TypeError TypeError TypeError CompileError CompileError""#,
        ),
        // What comes back by a task of V8's would never come back.
        (SHARED, "return [typeof Atomics.waitAsync, typeof Atomics.wait]", r#"["undefined","function"]"#),
        (
            COMPILED,
            "return [typeof WebAssembly.compileStreaming, typeof WebAssembly.instantiateStreaming]",
            r#"["undefined","undefined"]"#,
        ),
    ];
    for (builtins, code, expected) in rows {
        assert_eq!(with(&engine, builtins, code).await, value(expected), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_compiler_there_is_no_web_assembly() {
    let engine = engine(Options { jitless: true, ..Options::default() });
    let mut given = start(Limits::default(), Arc::new(Kept::default()));
    given.bindings.builtins = COMPILED.to_vec();
    match engine.start(&body("return 1"), given).await {
        Err(EngineError::Unsupported(error)) => assert!(error.what.starts_with("`WebAssembly`"), "{error}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    assert_eq!(with(&engine, SHARED, "return new SharedArrayBuffer(8).byteLength").await, value("8"));
}
