//! Programs that mean harm: every one has an outcome that is right, on time, and the engine serves the next as if nothing had been.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use common::{Kept, body, engine, run, start, turn, value};
use isolith_core::{Builtin, End, Engine, ErrorKind, Limits, Step};
use isolith_v8::{Options, V8};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Programs, and the kinds of error that are right for each; none for those that must get by with a value.
const PROGRAMS: &[(&str, &str, &[ErrorKind])] = &[
    ("an endless loop", "for (;;);", &[ErrorKind::CpuLimit]),
    (
        "endless microtasks",
        "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})",
        &[ErrorKind::CpuLimit],
    ),
    ("a loop in a microtask", "await null; for (;;);", &[ErrorKind::CpuLimit]),
    (
        "a loop that catches everything",
        "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
        &[ErrorKind::CpuLimit],
    ),
    ("a loop in a getter of the value", "return { get x() { for (;;); } }", &[ErrorKind::CpuLimit]),
    ("a loop in toJSON", "return { toJSON() { for (;;); } }", &[ErrorKind::CpuLimit]),
    ("a loop in a thenable", "return { then() { for (;;); } }", &[ErrorKind::CpuLimit]),
    ("a loop in a proxy", "return new Proxy({}, { get() { for (;;); } }).x", &[ErrorKind::CpuLimit]),
    ("a loop in a message", "throw { get message() { for (;;); } }", &[ErrorKind::CpuLimit]),
    ("a regular expression", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", &[ErrorKind::CpuLimit]),
    (
        "a flood of promises",
        "for (;;) Promise.resolve().then(() => {})",
        &[ErrorKind::CpuLimit, ErrorKind::MemoryLimit],
    ),
    ("an array that grows", "const a = []; for (;;) a.push(new Array(1000).fill(1.5))", &[ErrorKind::MemoryLimit]),
    (
        "a map that grows",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    ("one large array", "return new Array(2 ** 27).fill(0.5).length", &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit]),
    (
        "one string after the other",
        "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1 << 20) + i)",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "one string after the other that is read",
        "const a = []; for (let i = 0; ; i++) { a.push('x'.repeat(1 << 20) + i); a[i].charCodeAt(9); }",
        &[ErrorKind::MemoryLimit],
    ),
    ("a string that doubles", "let s = 'x'; for (;;) s += s", &[ErrorKind::Thrown, ErrorKind::MemoryLimit]),
    ("one large buffer", "return new Uint8Array(900e6).length", &[ErrorKind::MemoryLimit]),
    (
        "one buffer after the other",
        "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "buffers that are caught",
        "const a = []; for (;;) { try { a.push(new ArrayBuffer(50e6)); } catch {} }",
        &[ErrorKind::MemoryLimit],
    ),
    ("a buffer that is caught", "try { new ArrayBuffer(900e6); } catch {} return 'went on'", &[ErrorKind::MemoryLimit]),
    (
        "a buffer that is caught, and a smaller one",
        "try { new ArrayBuffer(900e6); } catch { new ArrayBuffer(1); } return 'went on'",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "a buffer that is caught, and smaller ones for ever",
        "for (;;) { try { new Uint8Array(900e6); } catch { new Uint8Array(70e3); } }",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "a buffer that is caught, and a smaller one later",
        "try { new ArrayBuffer(900e6); } catch { new ArrayBuffer(1); } await null; return new ArrayBuffer(1).byteLength",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "buffers that are let go",
        "let n = 0; for (let i = 0; i < 40; i++) n += new Uint8Array(20e6).length; return n",
        &[],
    ),
    (
        "a buffer that can grow",
        "const b = new ArrayBuffer(0, { maxByteLength: 8e9 }); b.resize(4e9); return new Uint8Array(b).fill(1).length",
        &[ErrorKind::MemoryLimit, ErrorKind::Thrown],
    ),
    (
        "memory of WebAssembly",
        "const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) m.grow(100)",
        &[ErrorKind::Thrown],
    ),
    ("shared memory", "return new SharedArrayBuffer(8)", &[ErrorKind::Thrown]),
    (
        "finalizers",
        "const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e5; i++) r.register({}, 1)",
        &[ErrorKind::Thrown],
    ),
    ("deep recursion", "const f = () => f() + 1; return f()", &[ErrorKind::StackOverflow]),
    (
        "deep recursion of natives",
        "let o = []; for (let i = 0; i < 2e5; i++) o = [o]; return o.flat(Infinity).length",
        &[ErrorKind::StackOverflow],
    ),
    (
        "a deep pattern",
        "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')",
        &[ErrorKind::StackOverflow, ErrorKind::Thrown, ErrorKind::MemoryLimit],
    ),
    (
        "a large number",
        "let x = 2n; for (;;) x *= x",
        &[ErrorKind::Thrown, ErrorKind::CpuLimit, ErrorKind::MemoryLimit],
    ),
    (
        "a sort that never ends",
        "return Array.from({ length: 3e7 }, (_, i) => -i).sort().length",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    ("output without end", "for (;;) console.log('x'.repeat(1000))", &[ErrorKind::OutputLimit]),
    ("timers without end", "const f = () => { setTimeout(f, 0); for (;;); }; f()", &[ErrorKind::CpuLimit]),
    ("a forged interruption", "throw Object.assign(new Error('x'), { name: 'CpuLimit' })", &[ErrorKind::Thrown]),
    (
        "forged results",
        "Promise.prototype.then = () => 7; JSON.stringify = () => '8'; Object.prototype.toJSON = undefined; return 1",
        &[],
    ),
    ("natives of the engine", "return eval('%DebugPrint(1)')", &[ErrorKind::Thrown]),
    (
        "the stack's own functions",
        "Error.prepareStackTrace = (_, s) => s; const s = new Error('x').stack; if (typeof s !== 'string') return s[0].getFunction(); return 1",
        &[],
    ),
    (
        "deleted globals",
        "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} return 1",
        &[],
    ),
];

/// The same with what can be granted of the language: also a module, which is `code` in the program. They have all of it.
const GRANTED: &[(&str, &str, &str, &[ErrorKind])] = &[
    (
        "an endless loop of a module",
        "(func (export \"f\") (loop br 0))",
        "made(code).f()",
        &[ErrorKind::CpuLimit],
    ),
    (
        "a loop of a module that is caught",
        "(func (export \"f\") (loop br 0))",
        "for (;;) { try { made(code).f(); } catch {} finally { for (;;); } }",
        &[ErrorKind::CpuLimit],
    ),
    (
        "a module that catches everything",
        "(func (export \"f\") (loop $again (block $caught (try_table (catch_all $caught) (loop br 0))) (br $again)))",
        "made(code).f()",
        &[ErrorKind::CpuLimit],
    ),
    (
        "a module that calls a loop",
        "(import \"m\" \"f\" (func $f)) (func (export \"g\") call $f)",
        "made(code, () => { for (;;); }).g()",
        &[ErrorKind::CpuLimit],
    ),
    (
        "a module that grows",
        "(memory 1) (func (export \"f\") (loop (drop (memory.grow (i32.const 1))) (br 0)))",
        "made(code).f()",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "a module that grows and writes",
        "(memory 1) (func (export \"f\") (loop (drop (memory.grow (i32.const 16)))
           (memory.fill (i32.const 0) (i32.const 7) (i32.mul (memory.size) (i32.const 65536))) (br 0)))",
        "made(code).f()",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "memory that grows",
        "",
        "const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) m.grow(100)",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "memory that is caught",
        "",
        "const a = []; for (;;) { try { a.push(new WebAssembly.Memory({ initial: 160 })); } catch {} }",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "memory without a page",
        "",
        "const a = []; for (;;) a.push(new WebAssembly.Memory({ initial: 0, maximum: 65536 }))",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "memory above the limit that waits",
        "",
        "const m = new WebAssembly.Memory({ initial: 1100 }); await null; return m.buffer.byteLength",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "memory that is let go",
        "",
        "let n = 0; for (let i = 0; i < 40; i++) n += new WebAssembly.Memory({ initial: 300 }).buffer.byteLength; return n",
        &[],
    ),
    (
        "tables",
        "",
        "const a = []; for (;;) a.push(new WebAssembly.Table({ initial: 1e6, element: 'anyfunc' }))",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "a table that grows",
        "(table 1 externref) (func (export \"f\") (loop (drop (table.grow (ref.null extern) (i32.const 1000))) (br 0)))",
        "made(code).f()",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "objects of a module",
        "(type $a (array (mut i64))) (type $list (struct (field (ref null $list)) (field (ref $a))))
         (func (export \"f\") (local $l (ref null $list))
           (loop (local.set $l (struct.new $list (local.get $l) (array.new_default $a (i32.const 10000)))) (br 0)))",
        "made(code).f()",
        &[ErrorKind::MemoryLimit],
    ),
    ("modules without end", "", "const a = []; for (;;) a.push(new WebAssembly.Module(code))", &[
        ErrorKind::MemoryLimit,
        ErrorKind::CpuLimit,
    ]),
    (
        "long functions",
        "",
        "const size = (n) => [n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21]; const n = 6e6;
         const long = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10,
           ...size(n + 7), 1, ...size(n + 2), 0];
         const bytes = new Uint8Array(long.length + n + 1); bytes.set(long); bytes.fill(1, long.length, long.length + n); bytes[long.length + n] = 11;
         for (;;) made(bytes).f()",
        &[ErrorKind::CpuLimit, ErrorKind::MemoryLimit],
    ),
    (
        "deep recursion of a module",
        "(func $f (export \"f\") call $f)",
        "made(code).f()",
        &[ErrorKind::StackOverflow],
    ),
    (
        "deep recursion through a module",
        "(import \"m\" \"f\" (func $f)) (func (export \"g\") call $f)",
        "const g = made(code, () => g()).g; g()",
        &[ErrorKind::StackOverflow],
    ),
    ("a trap", "(func (export \"f\") unreachable)", "made(code).f()", &[ErrorKind::Thrown]),
    (
        "a look beyond memory",
        "(memory 1) (func (export \"f\") (result i32) (i32.load (i32.const -4)))",
        "made(code).f()",
        &[ErrorKind::Thrown],
    ),
    (
        "a module that waits",
        "(memory 1 1 shared) (func (export \"f\") (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))",
        "made(code).f()",
        &[ErrorKind::Thrown],
    ),
    ("waiting", "", "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)", &[ErrorKind::Thrown]),
    (
        "shared memory that is caught",
        "",
        "const a = []; for (;;) { try { a.push(new SharedArrayBuffer(5e6)); } catch {} }",
        &[ErrorKind::MemoryLimit],
    ),
    (
        "shared memory that grows",
        "",
        "const b = new SharedArrayBuffer(0, { maxByteLength: 1e9 }); for (;;) { b.grow(b.byteLength + 1e7); new Uint8Array(b).fill(1); }",
        &[ErrorKind::Thrown],
    ),
    (
        "shared memory of modules",
        "",
        "const a = []; for (;;) a.push(new WebAssembly.Memory({ initial: 160, maximum: 160, shared: true }))",
        &[ErrorKind::Thrown],
    ),
    (
        "stacks that are put aside",
        "(import \"m\" \"f\" (func $f)) (func (export \"g\") call $f)",
        "const g = WebAssembly.promising(made(code, new WebAssembly.Suspending(() => new Promise(() => {}))).g); for (;;) g()",
        &[ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
    ),
    (
        "a stack that never comes back",
        "(import \"m\" \"f\" (func $f)) (func (export \"g\") call $f)",
        "await WebAssembly.promising(made(code, new WebAssembly.Suspending(() => new Promise(() => {}))).g)()",
        &[ErrorKind::Stalled],
    ),
    (
        "deep recursion on a stack of its own",
        "(func $f (export \"f\") call $f)",
        "await WebAssembly.promising(made(code).f)()",
        &[ErrorKind::StackOverflow],
    ),
];

/// A program that means harm, and what is right for it.
struct Hostile {
    name: &'static str,
    code: String,
    kinds: &'static [ErrorKind],
    builtins: &'static [Builtin],
}

fn programs() -> Vec<Hostile> {
    let plain = PROGRAMS.iter().map(|&(name, code, kinds)| Hostile { name, code: code.into(), kinds, builtins: &[] });
    let granted = GRANTED.iter().map(|&(name, module, code, kinds)| {
        let bytes = wat::parse_str(format!("(module {module})")).expect("a module");
        let made =
            "const made = (code, f) => new WebAssembly.Instance(new WebAssembly.Module(code), { m: { f } }).exports";
        let code = format!("const code = new Uint8Array({bytes:?}); {made}; {code}");
        Hostile { name, code, kinds, builtins: &Builtin::ALL }
    });
    plain.chain(granted).collect()
}

fn limits() -> Limits {
    Limits {
        cpu: Duration::from_millis(300),
        wall: Duration::from_secs(5),
        memory_bytes: 64 << 20,
        ..Limits::default()
    }
}

async fn one(engine: &V8, hostile: &Hostile) -> Result<(), String> {
    let began = Instant::now();
    let name = hostile.name;
    let mut given = start(limits(), Arc::new(Kept::default()));
    given.bindings.builtins = hostile.builtins.to_vec();
    let mut isolate = engine.start(&body(&hostile.code), given).await.expect("an isolate");
    let step = tokio::time::timeout(Duration::from_secs(20), isolate.advance(turn(Vec::new()))).await;
    let end = match step {
        Ok(Ok(Step::Done(end, _))) => end,
        Ok(other) => return Err(format!("{name}: {other:?}")),
        Err(_) => return Err(format!("{name}: it hangs")),
    };
    let is_right = match &end {
        End::Value(_) => hostile.kinds.is_empty(),
        End::Failed(failure) => hostile.kinds.contains(&failure.kind),
    };
    match is_right {
        true => Ok(()),
        false => Err(format!("{name}: {end:?} after {:?}", began.elapsed()).chars().take(600).collect()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hostile_program_has_an_outcome_that_is_right() {
    let engine = engine(Options::default());
    let mut wrong = Vec::new();
    for program in programs() {
        wrong.extend(one(&engine, &program).await.err());
        assert_eq!(run(&engine, "return 1", Limits::default()).await, value("1"), "after {}", program.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mix, several at a time, with a well-behaved neighbour: `ISOLITH_V8_SOAK` programs.
#[tokio::test(flavor = "multi_thread")]
async fn a_mix_of_hostile_programs_leaves_neighbours_alone() {
    const AT_A_TIME: usize = 4;
    let count: usize = std::env::var("ISOLITH_V8_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let engine = engine(Options { ready: AT_A_TIME, ..Options::default() });
    let programs: Arc<Vec<Hostile>> = Arc::new(programs());
    let mut wrong = Vec::new();
    for first in (0..count).step_by(AT_A_TIME) {
        let each = (first..(first + AT_A_TIME).min(count)).map(|number| {
            let (engine, programs) = (engine.clone(), Arc::clone(&programs));
            tokio::spawn(async move {
                one(&engine, &programs[(number * 7 + number / programs.len()) % programs.len()]).await
            })
        });
        let all: Vec<_> = each.collect();
        assert_eq!(run(&engine, "return [1, 2].map((x) => x + 1)", Limits::default()).await, value("[2,3]"));
        for one in all {
            wrong.extend(one.await.unwrap().err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(engine.name(), "v8");
}
