//! A run whose time or randomness is banned has no way to either.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::{Ambient, HostReply, Source};
use support::{Given, run};

/// Evaluates each expression and gives what it threw, or `told` and the value.
fn tries(given: &Given, expressions: &[&str]) -> Vec<String> {
    let list: Vec<String> = expressions.iter().map(|e| format!("() => ({e})")).collect();
    let code = format!(
        "const out = [];
         for (const look of [{}]) {{
             try {{ out.push('told ' + String(await look())); }} catch (e) {{ out.push(e.name + ': ' + e.message); }}
         }}
         return out;",
        list.join(",\n")
    );
    let ran = run(&code, given, |_| HostReply::done());
    let json = match ran.end {
        isolith_core::End::Value(Some(json)) => json,
        other => panic!("{other:?}"),
    };
    json.parse().unwrap()
}

const TIME: &[&str] = &[
    "Date.now()",
    "new Date()",
    "Date()",
    "Date.call(null)",
    "Reflect.construct(Date, [])",
    "Reflect.construct(Date, [], class {})",
    "Reflect.apply(Date, undefined, [1, 2])",
    "new (class extends Date {})()",
    "new (class extends Date { constructor() { super(); } })().getTime()",
    "new (new Date(0).constructor)()",
    "new Date.prototype.constructor()",
    "new (structuredClone(new Date(0)).constructor)()",
    "new (Object.getPrototypeOf(class extends Date {}))()",
    "new (Date.bind(null))()",
    "new (new Proxy(Date, {}))()",
    "[].map.call([0], () => Date.now())",
    "Function('return Date.now()')()",
    "(0, eval)('Date.now()')",
    "new Intl.DateTimeFormat().format()",
    "Intl.DateTimeFormat().formatToParts()",
    "performance.now()",
    "performance.timeOrigin",
    "performance.toJSON()",
    "JSON.stringify(performance)",
    "Object.getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin').get.call(performance)",
    "console.time('x')",
];

const RANDOM: &[&str] = &[
    "Math.random()",
    "Reflect.apply(Math.random, Math, [])",
    "crypto.getRandomValues(new Uint8Array(4))",
    "Crypto.prototype.getRandomValues.call(crypto, new Uint8Array(4))",
    "crypto.randomUUID()",
    "crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])",
];

/// What works all the same, and what it gives.
const CALM: &[(&str, &str)] = &[
    ("new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"),
    ("Date.parse('2024-01-02')", "1704153600000"),
    ("Date.UTC(2024, 0)", "1704067200000"),
    ("new Date(2024, 0).getTime()", "1704067200000"),
    ("new Date(new Date(5)).getTime()", "5"),
    ("new Date(undefined).getTime()", "NaN"),
    ("new Event('x').timeStamp", "0"),
    ("new File([], 'f').lastModified", "0"),
    ("new Intl.DateTimeFormat('en-US').format(0)", "1/1/1970"),
    ("new Promise((done) => setTimeout(() => done('waited'), 5))", "waited"),
    (
        "new Response((() => { const f = new FormData(); f.append('a', 'b'); return f; })()).formData().then((f) => f.get('a'))",
        "b",
    ),
    ("(() => { const c = new AbortController(); c.abort('why'); return c.signal.reason; })()", "why"),
    ("crypto.subtle.digest('SHA-1', new Uint8Array(1)).then((b) => b.byteLength)", "20"),
];

#[test]
fn banned_sources_cannot_be_looked_at_in_any_way() {
    for (expressions, what) in [(TIME, "time"), (RANDOM, "randomness")] {
        for (expression, said) in expressions.iter().zip(tries(&Given::banned(), expressions)) {
            let ok =
                said.starts_with("SandboxViolation: ") && said.ends_with(&format!("{what} is banned for this run"));
            assert!(ok, "{expression} gave {said}");
        }
    }
}

#[test]
fn what_needs_neither_still_works() {
    let (expressions, wanted): (Vec<&str>, Vec<String>) = CALM.iter().map(|(e, w)| (*e, format!("told {w}"))).unzip();
    assert_eq!(tries(&Given::banned(), &expressions), wanted);
}

#[test]
fn a_violation_names_what_was_called_and_can_be_caught() {
    let said = tries(&Given::banned(), &["Date.now()", "new Date()", "Math.random()", "performance.now()"]);
    assert_eq!(
        said,
        [
            "SandboxViolation: Date.now() is not allowed: time is banned for this run",
            "SandboxViolation: argless new Date() is not allowed: time is banned for this run",
            "SandboxViolation: Math.random() is not allowed: randomness is banned for this run",
            "SandboxViolation: performance.now() is not allowed: time is banned for this run",
        ]
    );
    let code = "try { Date.now(); } catch (e) { return [e instanceof Error, e.code, Object.keys(e)]; }";
    let ran = run(code, &Given::banned(), |_| HostReply::done());
    assert_eq!(ran.value(), r#"[true,"time.banned",["code"]]"#);
    let ran = run("const x = 1;\nreturn Date.now();", &Given::banned(), |_| HostReply::done());
    let stack = ran.failure().stack.clone().unwrap();
    assert!(stack.contains("test.js:2"), "{stack}");
}

#[test]
fn one_may_be_banned_without_the_other_and_both_are_live_by_default() {
    let looks = ["Date.now() > 0", "Math.random() < 1"];
    let told = |given: &Given| tries(given, &looks).iter().map(|s| s.starts_with("told true")).collect::<Vec<_>>();
    let with = |time, random| Given { ambient: Ambient { time, random }, ..Given::nothing() };
    assert_eq!(told(&with(Source::Banned, Source::Live)), [false, true]);
    assert_eq!(told(&with(Source::Virtual, Source::Banned)), [true, false]);
    assert_eq!(told(&with(Source::Live, Source::Virtual)), [true, true]);
}
