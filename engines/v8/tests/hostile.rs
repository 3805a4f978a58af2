//! Programs that mean harm: every one has an outcome that is right, on time, and the engine serves the next as if nothing had been.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use common::{engine, run, value};
use isolith_core::{End, Engine, ErrorKind, Limits};
use isolith_v8::{Options, V8};
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

fn limits() -> Limits {
    Limits {
        cpu: Duration::from_millis(300),
        wall: Duration::from_secs(5),
        memory_bytes: 64 << 20,
        ..Limits::default()
    }
}

async fn one(engine: &V8, (name, code, kinds): &(&str, &str, &[ErrorKind])) -> Result<(), String> {
    let began = Instant::now();
    let end = tokio::time::timeout(Duration::from_secs(20), run(engine, code, limits())).await;
    let Ok(end) = end else { return Err(format!("{name}: it hangs")) };
    let is_right = match &end {
        End::Value(_) => kinds.is_empty(),
        End::Failed(failure) => kinds.contains(&failure.kind),
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
    for program in PROGRAMS {
        wrong.extend(one(&engine, program).await.err());
        assert_eq!(run(&engine, "return 1", Limits::default()).await, value("1"), "after {}", program.0);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mix, several at a time, with a well-behaved neighbour: `ISOLITH_V8_SOAK` programs.
#[tokio::test(flavor = "multi_thread")]
async fn a_mix_of_hostile_programs_leaves_neighbours_alone() {
    const AT_A_TIME: usize = 4;
    let count: usize = std::env::var("ISOLITH_V8_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let engine = engine(Options { ready: AT_A_TIME, ..Options::default() });
    let mut wrong = Vec::new();
    for first in (0..count).step_by(AT_A_TIME) {
        let each = (first..(first + AT_A_TIME).min(count)).map(|number| {
            let engine = engine.clone();
            tokio::spawn(async move {
                one(&engine, &PROGRAMS[(number * 7 + number / PROGRAMS.len()) % PROGRAMS.len()]).await
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
