//! Rejections that nobody handles are said on stderr, and change nothing else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::{ErrorKind, Form, HostReply};
use support::{Given, run};

fn stderr(code: &str) -> Vec<String> {
    let ran = run(code, &Given::default(), |_| HostReply::failed("TypeError", "the host said no"));
    assert_eq!(ran.value(), "\"fine\"");
    ran.stderr
}

#[test]
fn an_unhandled_rejection_is_said_once() {
    let first_lines = |code: &str| -> Vec<String> {
        stderr(code).iter().map(|text| text.lines().next().unwrap().to_owned()).collect()
    };
    assert_eq!(first_lines("Promise.reject(new Error('lost')); return 'fine';"), ["Uncaught (in promise) Error: lost"]);
    assert_eq!(first_lines("Promise.reject({ a: 1 }); await null; return 'fine';"), ["Uncaught (in promise) { a: 1 }"]);
    assert_eq!(first_lines("(async () => { throw 5; })(); return 'fine';"), ["Uncaught (in promise) 5"]);
    let code = "tools.echo(1); await tools.echo(2).catch(() => {}); return 'fine';";
    assert_eq!(first_lines(code), ["Uncaught (in promise) [TypeError: the host said no]"]);
}

#[test]
fn a_handled_rejection_is_not() {
    for code in [
        "const p = Promise.reject(1); p.catch(() => {}); return 'fine';",
        "const p = (async () => { throw 1; })(); try { await p; } catch {} return 'fine';",
        "await Promise.allSettled(Array.from({ length: 1000 }, async () => { throw 1; })); return 'fine';",
        "const p = Promise.reject(1); queueMicrotask(() => p.catch(() => {})); return 'fine';",
        "await Promise.any([tools.echo(), tools.echo()]).catch(() => {}); return 'fine';",
        "await fetch('http://h/').catch(() => {}); await fetch('nope').catch(() => {}); return 'fine';",
        "await kv.keys().next().catch(() => {}); return 'fine';",
        "await Promise.race([tools.echo(), new Promise(() => {})]).catch(() => {}); return 'fine';",
    ] {
        assert_eq!(stderr(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn the_failure_of_the_run_itself_is_not_said_twice() {
    for form in [Form::Body, Form::Module] {
        let given = Given { form, ..Given::default() };
        for code in [
            "throw new Error('end');",
            "await null; throw new Error('end');",
            "await Promise.reject(new Error('end'));",
        ] {
            let ran = run(code, &given, |_| HostReply::done());
            assert_eq!(ran.failure().message, "end", "{form:?} {code}");
            assert_eq!(ran.stderr, Vec::<String>::new(), "{form:?} {code}");
        }
    }
}

#[test]
fn a_flood_is_cut_short_and_the_output_limit_is_not_overrun() {
    assert_eq!(stderr("for (let i = 0; i < 5000; i++) Promise.reject(i); await null; return 'fine';").len(), 20);
    let code = "for (let i = 0; i < 50; i++) { Promise.reject(i); await null; await null; } return 'fine';";
    assert_eq!(stderr(code).len(), 20);
    let given = Given::with(|limits| limits.output_bytes = 10);
    let ran = run("Promise.reject('x'.repeat(100)); return 'fine';", &given, |_| HostReply::done());
    assert_eq!(ran.value(), "\"fine\"");
    assert!(ran.stderr.is_empty(), "{:?}", ran.stderr);
}

#[test]
fn what_is_thrown_while_showing_one_is_swallowed_and_a_loop_ends_with_its_limit() {
    let odd = "{ [Symbol.for('nodejs.util.inspect.custom')]() { Promise.resolve().then(() => { globalThis.ran = 1; }); throw 1; } }";
    let code = format!("Promise.reject({odd}); await null; await null; return 'fine';");
    stderr(&code);
    let loops = "{ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } }";
    let code = format!("Promise.reject({loops}); return 'fine';");
    let given = Given::with(|limits| limits.cpu = std::time::Duration::from_millis(200));
    let ran = run(&code, &given, |_| HostReply::done());
    assert_eq!(ran.failure().kind, ErrorKind::CpuLimit);
}
