//! What a person sees: exit code, stdout and stderr of the real binary.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use support::{Ran, folder, isolith, isolith_in};

#[test]
fn a_value_is_printed() {
    for (code, printed) in
        [("1 + 1", "2\n"), ("return 'text'", "text\n"), ("({ a: [1] })", "{\"a\":[1]}\n"), ("undefined", "")]
    {
        isolith(&["eval", code]).is(0, printed, "");
    }
}

#[test]
fn outputs_go_where_they_belong() {
    isolith(&["eval", "console.log('out', { a: 1 }); console.error('err'); return 7"]).is(
        0,
        "out { a: 1 }\n7\n",
        "err\n",
    );
    isolith(&["eval", "--quiet", "console.log('out'); console.error('err'); return 7"]).is(0, "7\n", "");
}

#[test]
fn a_failure_shows_its_place_in_the_authors_source() {
    let work = folder();
    work.write(
        "fails.ts",
        "type T = { y?: { z: number } };\n\nfunction g(o: T): number {\n  return o.y.z;\n}\nreturn g({});\n",
    );
    isolith_in(&work, &["run", "fails.ts"]).is(
        1,
        "",
        "error: TypeError: cannot read property 'z' of undefined\n  --> fails.ts:4:10\n   |\n 4 |   return o.y.z;\n   |          ^\n    at g (fails.ts:4:10)\n    at <anonymous> (fails.ts:6:8)\n",
    );
}

#[test]
fn a_syntax_error_shows_a_caret() {
    let work = folder();
    work.write("wrong.ts", "let a = 1;\nlet b = f(1;\n");
    isolith_in(&work, &["run", "wrong.ts"]).is(
        1,
        "",
        "error: SyntaxError: Expected `,` or `)` but found `;`\n  --> wrong.ts:2:12\n   |\n 2 | let b = f(1;\n   |            ^\nhint: the bracket to be closed is the one at 2:10\n",
    );
}

#[test]
fn what_is_not_granted_does_not_exist_and_the_hint_says_so() {
    let ran = isolith(&["eval", "await fetch('https://example.com')"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("fetch is not defined"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: grant it: --allow-net 'GET https://example.com'"), "{}", ran.stderr);
}

#[test]
fn limits_end_a_run_with_their_own_exit_code_and_place() {
    let work = folder();
    work.write("spin.ts", "let n = 0;\nfor (;;) {\n  n++;\n}\n");
    for flag in ["--cpu", "--timeout"] {
        let ran = isolith_in(&work, &["run", "spin.ts", flag, "50ms"]);
        assert_eq!(ran.code, 124, "{}", ran.stderr);
        assert!(ran.stderr.contains("--> spin.ts:3:"), "{}", ran.stderr);
    }
    let ran = isolith(&["eval", "const a = []; for (;;) a.push(new Array(1e4).fill(1))", "--memory", "16MiB"]);
    assert_eq!((ran.code, ran.stderr.contains("16 MiB of memory")), (1, true), "{}", ran.stderr);
}

#[test]
fn bad_input_is_one_line_and_a_hint_before_anything_runs() {
    let work = folder();
    work.write("empty.js", " \n");
    work.write_bytes("junk.js", &[0, 159, 146, 150, 0, 1]);
    work.write_bytes("latin1.js", b"return '\xe4'");
    work.write_bytes("huge.js", &vec![b' '; 2 << 20]);
    work.write("not.json", "{a: 1}");
    let rows: &[(&[&str], &str)] = &[
        (&["run", "missing.js"], "cannot read `missing.js`: No such file"),
        (&["run", "."], "`.` is a folder"),
        (&["run", "empty.js"], "`empty.js` is empty"),
        (&["run", "junk.js"], "`junk.js` is binary, not a program"),
        (&["run", "latin1.js"], "`latin1.js` is not valid UTF-8: byte 8, in line 1"),
        (&["run", "huge.js"], "`huge.js` is larger than 1048576 bytes, the limit"),
        (&["run", "--no-such-flag", "x.js"], "unexpected argument '--no-such-flag' found"),
        (&["run"], "the following required arguments were not provided: <FILE>"),
        (&["no-such-command"], "unrecognized subcommand 'no-such-command'"),
        (&["eval", " "], "the program is empty"),
        (&["eval", "1", "--timeout", "0"], "limit `timeout` is zero"),
        (&["eval", "1", "--timeout", "-5s"], "invalid value '-5s' for '--timeout <DURATION>'"),
        (&["eval", "1", "--timeout", "1000000d"], "limit `timeout` is 1000000 days"),
        (&["eval", "1", "--cpu", "soon"], "invalid value 'soon' for '--cpu <DURATION>'"),
        (&["eval", "1", "--memory", "0"], "limit `memory` is 0 bytes"),
        (&["eval", "1", "--memory", "-1"], "invalid value '-1' for '--memory <SIZE>'"),
        (&["eval", "1", "--memory", "9999GiB"], "limit `memory` is 10238976 MiB"),
        (&["eval", "1", "--arg", "x"], "`--arg x` has no `=`"),
        (&["eval", "1", "--arg", "x={a:1}"], "the value of `--arg x` is not valid JSON"),
        (&["eval", "1", "--arg", "1x=1"], "`1x` cannot name a binding"),
        (&["eval", "1", "--input", "not.json"], "`not.json` is not valid JSON"),
        (&["eval", "1", "--seed", "-1"], "unexpected argument '-1' found"),
        (&["eval", "1", "--time", "yesterday"], "`--time yesterday` is not a moment"),
        (&["run", "a.js", "b.js", "--watch"], "`--watch` takes one file"),
        (&["run", "a.js", "--jobs", "0"], "invalid value '0' for '--jobs <N>'"),
        (&["resume", "missing.run"], "there is no file and no run `missing.run`"),
        (&["resume", "empty.js"], "this is not a suspended run, or it is damaged"),
        (&["completions", "nosuchshell"], "invalid value 'nosuchshell'"),
    ];
    for (args, message) in rows {
        let Ran { code, stdout, stderr } = isolith_in(&work, args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        let lines: Vec<&str> = stderr.lines().collect();
        assert!(lines[0].starts_with("error: ") && lines[0].contains(message), "{args:?}: {stderr}");
        assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{args:?}: {stderr}");
    }
}

#[test]
fn arguments_and_input_reach_the_program() {
    let work = folder();
    work.write("input.json", r#"{ "rows": [1, 2, 3] }"#);
    let code = "input.rows.length * factor + name.length";
    isolith_in(&work, &["eval", code, "--input", "input.json", "--arg", "factor=10", "--arg", "name=\"abc\""])
        .is(0, "33\n", "");
    isolith(&["eval", "typeof input + typeof factor"]).is(0, "undefinedundefined\n", "");
}

#[test]
fn the_whole_outcome_as_json() {
    let ran = isolith(&["eval", "--json", "--time", "0", "console.log('x'); return { a: 1 }"]);
    let outcome: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 0);
    assert_eq!(outcome["status"], "ok");
    assert_eq!(outcome["value"], serde_json::json!({ "a": 1 }));
    assert_eq!(outcome["outputs"], serde_json::json!([{ "stream": "stdout", "text": "x", "at_ms": 0 }]));
    assert!(outcome["usage"]["cpu_us"].as_u64().unwrap() > 0);
    for empty in ["calls", "exercised", "denied"] {
        assert_eq!(outcome[empty], serde_json::json!([]));
    }
}

#[test]
fn seed_and_time_make_a_run_repeatable() {
    let code = "await new Promise(r => setTimeout(r, 86400000)); [Date.now(), Math.random(), crypto.randomUUID(), performance.now()]";
    let run = |seed: &str| isolith(&["eval", code, "--seed", seed, "--time", "2026-01-01T00:00:00Z"]);
    let first = run("7");
    assert_eq!((first.code, first.stdout.contains(" 1767312000000,")), (0, true), "{first:?}");
    assert_eq!(first, run("7"));
    assert_ne!(first.stdout, run("8").stdout);
}

#[test]
fn several_files_run_side_by_side_as_json_lines() {
    let work = folder();
    work.write("a.js", "return 'a'");
    work.write("b.ts", "return <string>'b'");
    work.write("c.js", "throw new Error('c')");
    let ran = isolith_in(&work, &["run", "a.js", "b.ts", "c.js", "--jobs", "2"]);
    let mut lines: Vec<serde_json::Value> = ran.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    lines.sort_by_key(|l| l["file"].to_string());
    let seen: Vec<_> = lines
        .iter()
        .map(|l| (l["file"].as_str(), l["outcome"]["status"].as_str(), l["outcome"]["value"].as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (Some("a.js"), Some("ok"), Some("a")),
            (Some("b.ts"), Some("ok"), Some("b")),
            (Some("c.js"), Some("error"), None)
        ]
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
}

#[test]
fn completions_and_doctor_answer() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = isolith(&["completions", shell]);
        assert_eq!((ran.code, ran.stdout.contains("isolith")), (0, true), "{shell}");
    }
    let ran = isolith(&["doctor", "--json"]);
    let findings: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 0, "{findings}");
    assert!(findings.as_array().unwrap().iter().all(|f| f["state"] != "broken"), "{findings}");
}

#[test]
fn nothing_of_the_host_shows_in_a_program() {
    let code = "JSON.stringify([Object.getOwnPropertyNames(globalThis), new Error('x').stack, Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).getTimezoneOffset()])";
    let ran = support::isolith_with_env(
        &["eval", code],
        &[("HOST_CANARY", "canary-in-the-environment"), ("TZ", "Pacific/Chatham")],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for secret in ["canary-in-the-environment", "HOST_CANARY", "Chatham", "/tmp", "/home", "/root", "process"] {
        assert!(!ran.stdout.contains(secret), "{secret}: {}", ran.stdout);
    }
}

#[test]
fn mcp_is_for_clients_that_start_it() {
    let work = folder();
    work.write("policy.toml", "grants = []\n");
    for (args, says) in [
        (&["mcp"][..], "{\"mcpServers\": {\"isolith\": {\"command\": \"isolith\", \"args\": [\"mcp\"]}}}"),
        (&["mcp", "--audit-log", "x"], "`isolith audit` shows what programs did"),
        (&["mcp", "--allow-all", "--policy", "policy.toml"], "`--allow-all` cannot be used under a policy"),
        (&["mcp", "--allow-net", "http://"], "isolith run --help"),
    ] {
        let ran = isolith_in(&work, args);
        assert!(ran.code == 2 && ran.stderr.contains(says), "{args:?}: {ran:?}");
    }
}
