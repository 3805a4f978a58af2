//! Needs of programs that nobody writes in good faith: they take no time and no stack, and nothing panics.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Language, Needs, SourceError, needs};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Far more than any of these takes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(20);

fn timely(source: &str) -> Result<Needs, SourceError> {
    let start = Instant::now();
    let found = needs(source, "main.js", Language::Auto);
    assert!(start.elapsed() < PATIENCE, "{:?} for {:.80}", start.elapsed(), source);
    if let Err(error) = &found {
        assert_ne!(error.code, "internal", "{error} for {source:.200}");
    }
    found
}

#[test]
fn doubling_texts_stay_small() {
    let mut source = "const a0 = 'x';".to_owned();
    (1..100).for_each(|i| write!(source, "const a{i} = a{0} + a{0};", i - 1).unwrap());
    let found = timely(&(source + "fetch('https://h.test/' + a99)")).unwrap();
    assert_eq!((found.needs.len(), found.needs[0].exact), (1, false));
}

#[test]
fn doubling_choices_are_cut_off() {
    let mut source = String::from("let s0 = input ? 'a' : 'b';");
    (1..40).for_each(|i| write!(source, "let s{i} = s{0} + (input ? s{0} : 'c');", i - 1).unwrap());
    let found = timely(&(source + "tools[s39]()")).unwrap();
    assert_eq!((found.needs.len(), found.unknown.len()), (0, 1));
}

#[test]
fn doubling_calls_are_cut_off() {
    let mut source = String::from("function f0(p) { fetch('https://h.test/' + p) }");
    (1..40).for_each(|i| write!(source, "function f{i}(p) {{ f{0}(p + 'a'); f{0}(p + 'b') }}", i - 1).unwrap());
    let found = timely(&(source + "f39('x')")).unwrap();
    assert!(!found.needs.is_empty() && found.needs.len() <= 65);
    let mut source = String::from("const g0 = (p) => p;");
    (1..60).for_each(|i| write!(source, "const g{i} = (p) => g{0}(p) + g{0}(p);", i - 1).unwrap());
    let found = timely(&(source + "fetch('https://h.test/' + g59('x'))")).unwrap();
    assert_eq!(found.needs.len(), 1);
}

#[test]
fn circles_end() {
    for source in [
        "const a = b, b = a; fetch(a)",
        "const f = () => f(); fetch(f())",
        "function f(x) { return g(x) } function g(x) { return f(x) } fetch(f('https://h.test/'))",
        "function f(x) { fetch(x); g(x) } function g(x) { f(x) } f('https://h.test/a')",
        "const o = { o: o }; fetch(o.o.o.o)",
        "const xs = [...xs]; for (const x of xs) fetch(x)",
        "for (const x of [x]) fetch(x)",
        "for (var x of y) fetch(x); for (var y of x) fetch(y)",
        "const o = { ...o, ...o }; fetch(o.x); fetch('https://h.test/', o)",
        "const xs = [...xs, ...xs, ...ys], ys = [...xs, ...ys]; for (const x of xs) fetch(x)",
        "const xs = xs.map((x) => xs.map((y) => x + y)); for (const x of xs) fetch(x)",
        "let u = 'https://h.test/'; u = u + u; u += u; fetch(u)",
        "const xs = []; xs.push(xs); for (const x of xs) for (const y of x) fetch(y)",
        "function f(g) { return g(g) } f(f); fetch(f(f))",
        "const f = (x = f()) => fetch(x); f()",
        "enum E { A = E.A } fetch(E.A)",
    ] {
        assert!(timely(source).is_ok(), "{source}");
    }
}

#[test]
fn much_of_anything_is_linear() {
    let calls = "fetch('https://h.test/a');".repeat(20_000);
    let found = timely(&calls).unwrap();
    assert_eq!(found.needs.len(), 1);
    assert_eq!(found.needs[0].places.last().unwrap().column, 19_999 * 26 + 1);
    let mut many = String::new();
    (0..10_000).for_each(|i| write!(many, "fetch('https://h{i}.test/');").unwrap());
    assert_eq!(timely(&many).unwrap().needs.len(), 10_000);
    let mut sites = String::from("const get = (p) => fetch('https://h.test/v/' + p);");
    (0..5_000).for_each(|i| write!(sites, "get('{i}');").unwrap());
    let found = timely(&sites).unwrap();
    assert_eq!((found.needs.len(), found.needs[0].exact), (1, false));
    let items = format!("for (const u of [{}]) fetch(u)", "'https://h.test/a',".repeat(30_000));
    assert_eq!(timely(&items).unwrap().unknown.len(), 1);
    let mut keys = String::from("const o = {");
    (0..5_000).for_each(|i| write!(keys, "k{i}: 'https://h.test/{i}',").unwrap());
    keys.push_str("};");
    (0..5_000).for_each(|i| write!(keys, "fetch(o.k{i});").unwrap());
    timely(&keys).unwrap();
    let wide: Vec<String> = (0..60).map(|i| format!("'https://h.test/{i}/{}'", "a".repeat(2_000))).collect();
    let wide = format!("const s = input ? {};", wide.join(" : input ? ") + " : ''");
    timely(&format!("{wide}{}", "fetch(s);".repeat(50_000))).unwrap();
    timely(&format!("const f = (p) => {{ {} }}; {}", "fetch(p);".repeat(20_000), "f('a');".repeat(60))).unwrap();
    let mut chain = String::from("x");
    (0..400).for_each(|_| chain.push_str(".map(f)"));
    timely(&chain).unwrap();
}

#[test]
fn deep_sources_have_room() {
    for (open, middle, close) in [
        ("(", "fetch('https://h.test/a')", ")"),
        ("[", "fetch('https://h.test/a')", "]"),
        ("() => ", "fetch('https://h.test/a')", ""),
        ("x ? 'a' : ", "fetch('https://h.test/a')", ""),
        ("f(", "fetch('https://h.test/a')", ")"),
        ("`${", "fetch('https://h.test/a')", "}`"),
        ("'a' + ", "fetch('https://h.test/a')", ""),
        ("{ o: ", "fetch('https://h.test/a')", "}"),
    ] {
        for depth in [50, 150, 400] {
            let source = format!("const x = {}{middle}{}", open.repeat(depth), close.repeat(depth));
            if let Ok(found) = timely(&source) {
                assert_eq!(found.needs.len(), 1, "{open} {depth}");
            }
        }
    }
    let long = format!("fetch('https://h.test/'{})", " + 'a'".repeat(300));
    assert!(timely(&long).is_ok_and(|found| found.needs[0].exact));
}

/// A small generator of numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

#[test]
fn nothing_panics_whatever_becomes_of_a_source() {
    let seeds = [
        include_str!("../../../examples/grants/api-client.ts"),
        include_str!("../../../examples/grants/sync-feed.ts"),
        include_str!("../../../examples/grants/health-check.ts"),
        include_str!("../../../examples/grants/tools-in-parallel.ts"),
        "for (const [m, p] of [['GET', '/a'], ...input]) fetch(`https://${p}.h.test:${m}/x/${p}?q#f`, { method: m })",
        "const { a: [b = fetch, ...c], ...d } = tools; b(new URL(c, new URL('/x', d)).href, { ...d, method: `P${b}T` })",
        "enum E { A = 'https://h.test', B = `${A}x` } class K { static [E.A] = kv.space(E.B).get(files.list()) }",
    ];
    let pieces = [
        "fetch(",
        "tools",
        ".",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "`",
        "${",
        "}`",
        "'https://h.test/a'",
        "=>",
        "const x = ",
        "...",
        "=",
        ",",
        ";",
        "new URL(",
        "kv.space(",
        ".map(",
        "for (const x of ",
        "function f(x) { return x }",
        "+",
        "input",
        "?.",
        "??",
        "async ",
        "await ",
        "\\",
        "/",
        "%2e",
        "\u{1F600}",
        "\n",
        "files.rename(",
        "globalThis",
        "x",
        "export default ",
        "```ts\n",
        "`https://${x}.test/`",
        "as const",
        "declare const tools: any;",
        "typeof ",
    ];
    let mut dice = Dice(0x1501_17C0_FFEE);
    for round in 0..6_000 {
        let mut source: Vec<char> = seeds[dice.roll(seeds.len())].chars().collect();
        for _ in 0..=dice.roll(4) {
            let at = dice.roll(source.len() + 1);
            let end = (at + dice.roll(12)).min(source.len());
            match dice.roll(4) {
                0 => drop(source.drain(at..end)),
                1 => {
                    let copy: Vec<char> = source[at..end].to_vec();
                    let to = dice.roll(source.len() + 1);
                    source.splice(to..to, copy);
                }
                2 => {
                    let piece = pieces[dice.roll(pieces.len())];
                    source.splice(at..end, piece.chars());
                }
                _ => {
                    let piece = pieces[dice.roll(pieces.len())];
                    source.splice(at..at, piece.chars());
                }
            }
        }
        let source: String = source.into_iter().collect();
        if let Ok(found) = timely(&source) {
            let manifest = found.manifest();
            let lines = source.split(['\n', '\r', '\u{2028}', '\u{2029}']).count() as u32;
            for need in &found.needs {
                assert!(need.places.iter().all(|place| (1..=lines).contains(&place.line)), "{round}: {source}");
                let label = need.power.to_string();
                let parsed = label.parse::<isolith_core::Grant>();
                assert!(parsed.is_ok_and(|grant| grant.power == need.power), "{label} reads as another: {source}");
            }
            assert!(found.lacking(&manifest).is_empty(), "{round}: {source}");
        }
    }
}
