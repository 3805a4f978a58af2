//! Workflows by the command line: run, killed, taken up, told, held against what they did.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "workflows/granted.rs"]
mod granted;
mod support;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;
use support::{Folder, Ran, command, folder, ran};

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    ran(prepared(folder, args).output().unwrap())
}

fn prepared(folder: &Folder, args: &[&str]) -> std::process::Command {
    let mut command = command(&[&["workflow"], args].concat());
    command.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data"));
    command
}

/// The last line of a run with `--json`.
fn result(ran: &Ran) -> Value {
    let last = ran.stdout.lines().last().unwrap_or_else(|| panic!("{ran:?}"));
    serde_json::from_str(last).unwrap()
}

fn flow(body: &str) -> String {
    format!(
        "import {{ agent, parallel, pipeline, defineWorkflow, waitFor, sleep, now, random, log, patched, cleanup }} from 'defineworkflow';\n\
         export default defineWorkflow({{ name: 't', description: 'd', harness: 'claude', async run({{ args }}) {{\n{body}\n}} }});\n"
    )
}

/// Agents that write down when they are asked, take a moment, and fail where the prompt says so.
fn with_agents(folder: &Folder) {
    let script = "#!/bin/sh\necho \"$1\" >> calls\ncase \"$1\" in *slow*) sleep 0.02;; *mid*) sleep 0.006;; esac\ncase \"$1\" in *bad*) echo no >&2; exit 1;; esac\nprintf 'did %s' \"$1\"\n";
    folder.write("agent.sh", script);
    std::fs::set_permissions(folder.path().join("agent.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("agents.toml", "[agents.a]\nkind = \"command\"\nprogram = \"./agent.sh\"\nargs = [\"{prompt}\"]\n");
}

const WITH: [&str; 4] = ["--yes", "--json", "--agents", "agents.toml"];

fn calls(folder: &Folder) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_workflow_runs_and_its_files_stay_in_their_folder() {
    let folder = folder();
    folder.write("w.ts", &flow("return { report: '# Hi', '../evil': 'x', n: await agent('p', { label: 'l' }) };"));
    let done = isolith(&folder, &["run", "w.ts", "--mock", "--json", "--output", "out"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(result(&done)["value"]["n"], "[mock] l: p");
    let mut files: Vec<String> = std::fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["n.txt", "report.md", "result.json"]);
    assert!(!folder.path().join("evil.txt").exists());
    let listed: Value = serde_json::from_str(&isolith(&folder, &["list", "--json"]).stdout).unwrap();
    assert_eq!((&listed[0]["status"], &listed[0]["name"]), (&json!("finished"), &json!("t")));
}

#[test]
fn what_a_workflow_names_for_its_files_is_agreed_to_and_stays_here() {
    let folder = folder();
    let named =
        |output: &str| flow("return { settings: '{}' };").replace("harness:", &format!("output: '{output}', harness:"));
    std::os::unix::fs::symlink("/tmp", folder.path().join("out")).unwrap();
    for (output, code) in
        [("../up", 2), ("/tmp/x", 2), (".claude", 2), (".", 2), ("a/.git", 2), ("out/x", 2), ("made/here", 0)]
    {
        folder.write("w.ts", &named(output));
        let ran = isolith(&folder, &["run", "w.ts", "--mock", "--quiet", "--yes"]);
        assert_eq!(ran.code, code, "{output}: {ran:?}");
    }
    assert!(folder.path().join("made/here/settings.json").exists());
    let unasked = isolith(&folder, &["run", "w.ts", "--mock"]);
    assert!(unasked.stderr.contains("workflow.consent"), "files are not written without a word: {unasked:?}");
    assert!(isolith(&folder, &["check", "w.ts"]).stdout.contains("writes to  made/here"));
}

#[test]
fn nothing_runs_that_nobody_agreed_to() {
    let folder = folder();
    with_agents(&folder);
    folder.write("w.ts", &flow("return agent('p');"));
    let refused = isolith(&folder, &["run", "w.ts", "--agents", "agents.toml"]);
    assert!(refused.code == 2 && refused.stderr.contains("workflow.consent"), "{refused:?}");
    assert!(calls(&folder).is_empty());
    // What is granted is asked about as well, also where agents are made up.
    let refused = isolith(&folder, &["run", "w.ts", "--mock", "--allow-kv", "notes"]);
    assert!(refused.code == 2 && refused.stderr.contains("workflow.consent"), "{refused:?}");
}

#[test]
fn a_workflow_has_what_is_granted_and_nothing_else() {
    let folder = folder();
    folder.write("w.ts", &flow("const name = 'notes'; if (typeof kv === 'undefined' || !kv[name]) return 'none'; await kv[name].put('a', 1); return kv[name].get('a');"));
    let without = isolith(&folder, &["run", "w.ts", "--mock", "--json"]);
    assert_eq!(result(&without)["value"], "none", "{without:?}");
    let with = isolith(&folder, &["run", "w.ts", "--mock", "--json", "--yes", "--allow-kv", "notes"]);
    assert_eq!(result(&with)["value"], 1, "{with:?}");
}

#[test]
fn what_is_wrong_with_a_file_is_said_before_anything_runs() {
    let folder = folder();
    for (text, words) in [
        ("const y = 1;", "must export"),
        ("export const meta = { name: f(), description: 'd' };", "non-literal value in meta.name"),
        (
            "import x from 'lodash';\nexport const meta = { name: 'a', description: 'd' };",
            "cannot import from \"lodash\"",
        ),
        ("import x from './none.ts';\nexport const meta = { name: 'a', description: 'd' }; return x", "none.ts"),
        (
            "import x from '../../../../etc/passwd';\nexport const meta = { name: 'a', description: 'd' }; return x",
            "passwd",
        ),
        ("export const meta = { name: 'a', description: 'd' };\nconst = ;", "w.ts"),
    ] {
        folder.write("w.ts", text);
        let refused = isolith(&folder, &["run", "w.ts", "--mock"]);
        assert!(refused.code != 0 && refused.stderr.contains(words), "{text}\n{refused:?}");
    }
    let missing = isolith(&folder, &["run", "none.ts", "--mock"]);
    assert!(missing.code == 2 && missing.stderr.contains("no saved workflow"), "{missing:?}");
    assert_eq!(isolith(&folder, &["list", "--json"]).stdout, "[]\n");
}

#[test]
fn several_files_and_saved_workflows_come_along() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    folder.write("lib/words.ts", "import { agent } from 'defineworkflow';\nexport const shout = async (text: string): Promise<string> => (await agent(text, { label: 'h' })).toUpperCase();\n");
    folder.write("kid.ts", "import { args, defineWorkflow } from 'defineworkflow';\nexport default defineWorkflow({ name: 'kid', description: 'd', harness: 'claude', run() { return args.n + 1; } });");
    folder.write(
        "w.ts",
        &format!(
            "import {{ shout }} from './lib/words';\nimport {{ workflow }} from 'defineworkflow';\n{}",
            flow("return [await shout('hey'), await workflow('kid', { n: 1 })];")
        ),
    );
    assert_eq!(isolith(&folder, &["save", "kid.ts"]).code, 0);
    let done = isolith(&folder, &["run", "w.ts", "--mock", "--json"]);
    assert_eq!(result(&done)["value"], json!(["[MOCK] H: HEY", 2]), "{done:?}");
    // A workflow that is saved is run by its name.
    assert_eq!(result(&isolith(&folder, &["run", "kid", "--mock", "--json", "--args", "{\"n\":4}"]))["value"], 5);
}

#[test]
fn it_waits_on_disk_for_signals_and_answers_and_hears_each_once() {
    let folder = folder();
    folder.write("w.ts", &flow("const a = await waitFor('s'); const b = await waitFor('s'); const c = await waitFor('other', { timeout: '20ms' }).catch((e) => e.workflowError.kind); return [a, b, c];"));
    let waits = isolith(&folder, &["run", "w.ts", "--mock", "--json", "--suspend"]);
    assert_eq!((waits.code, &result(&waits)["status"]), (75, &json!("waiting")), "{waits:?}");
    for n in ["1", "2", "3"] {
        assert_eq!(isolith(&folder, &["signal", "last", "s", n]).code, 0);
    }
    let done = isolith(&folder, &["resume", "last", "--json"]);
    assert_eq!(result(&done)["value"], json!([1, 2, "Timeout"]), "{done:?}");
    // A fork counts its own signals from there on.
    let forked = isolith(&folder, &["fork", "last", "--at", "1", "--json", "--suspend"]);
    assert_eq!(forked.code, 75, "{forked:?}");
    assert_eq!(isolith(&folder, &["signal", "last", "s", "9"]).code, 0);
    let done = isolith(&folder, &["resume", "last", "--json"]);
    assert_eq!(result(&done)["value"], json!([1, 9, "Timeout"]), "{done:?}");
    let over = isolith(&folder, &["signal", "last", "s", "4"]);
    assert!(over.code == 2 && over.stderr.contains("workflow.over"), "{over:?}");
}

/// Lanes that overtake each other, with failures, whose result depends on nothing but what each call gives.
fn lanes() -> String {
    flow(
        "const lane = async (n) => {\n\
           const out = [];\n\
           for (let i = 0; i < 25; i++) {\n\
             const kind = (n * 7 + i * 3) % 5 === 0 ? 'bad' : (n + i) % 3 === 0 ? 'slow' : (n + i) % 3 === 1 ? 'mid' : 'fast';\n\
             out.push(await agent(`${kind} ${n}.${i}`, { label: `${n}.${i}` }).catch((e) => e.workflowError.kind));\n\
           }\n\
           return out.join();\n\
         };\n\
         return parallel([0, 1, 2, 3, 4, 5, 6, 7].map((n) => () => lane(n)));",
    )
}

fn killed_after(mut child: Child, wait: Duration) -> bool {
    std::thread::sleep(wait);
    let alive = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    alive
}

/// The status of the newest run when nobody is at it any more: its lock outlives a killed writer for as long as a
/// child that it had just forked takes to become another program.
fn status_when_left(folder: &Folder) -> String {
    for _ in 0..500 {
        let listed: Value = serde_json::from_str(&isolith(folder, &["list", "--json"]).stdout).unwrap();
        let status = listed[0]["status"].as_str().unwrap();
        if status != "running" {
            assert!(["finished", "interrupted"].contains(&status), "{status}");
            return status.to_owned();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a run that was killed is said to be running");
}

#[test]
fn three_hundred_kills_repeat_nothing_that_was_on_record_and_change_nothing() {
    let folder = folder();
    with_agents(&folder);
    folder.write("w.ts", &lanes());
    let whole = isolith(&folder, &[&["run", "w.ts", "--concurrency", "8"], &WITH[..]].concat());
    let expected = result(&whole)["value"].clone();
    assert_eq!(expected.as_array().unwrap().len(), 8, "{whole:?}");
    assert_eq!(calls(&folder).len(), 200);
    // Numbers that look like chance, and are the same each time.
    let mut seed = 42u64;
    let mut next = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let kills = std::env::var("ISOLITH_TEST_KILLS").map_or(300, |text| text.parse().unwrap());
    let (mut killed, mut rounds) = (0, 0);
    while killed < kills {
        rounds += 1;
        assert!(rounds < 10 * kills, "it does not come to be killed");
        let child = prepared(&folder, &[&["run", "w.ts", "--concurrency", "8"], &WITH[..]].concat());
        let mut child = { child }.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        loop {
            let was = killed_after(child, Duration::from_millis(15 + next(120)));
            killed += u32::from(was);
            if status_when_left(&folder) == "finished" {
                break;
            }
            let shown: Value = serde_json::from_str(&isolith(&folder, &["show", "last", "--json"]).stdout).unwrap();
            let done: BTreeSet<String> = shown["answers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["key"].as_str().unwrap().splitn(3, ':').last().unwrap().to_owned())
                .collect();
            let before = calls(&folder).len();
            if killed >= kills || next(4) == 0 {
                let ended = isolith(&folder, &[&["resume", "last"], &WITH[..]].concat());
                assert_eq!(result(&ended)["value"], expected, "{ended:?}");
                let repeated: Vec<String> = calls(&folder).split_off(before);
                let again = |call: &String| done.contains(call.split(' ').nth(1).unwrap());
                assert!(!repeated.iter().any(again), "{repeated:?} was done before: {done:?}");
                break;
            }
            let next = prepared(&folder, &[&["resume", "last"], &WITH[..]].concat());
            child = { next }.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        }
    }
    // The journals of all of them say the same, told again.
    let listed: Value = serde_json::from_str(&isolith(&folder, &["list", "--json"]).stdout).unwrap();
    assert!(listed.as_array().unwrap().iter().all(|one| one["status"] == "finished" && one["result"] == expected));
    let check = isolith(&folder, &["replay-check", "w.ts"]);
    assert_eq!(check.code, 0, "{check:?}");
    eprintln!("{killed} kills in {rounds} runs of 200 calls");
}

#[test]
fn a_changed_file_is_held_against_what_was_recorded() {
    let folder = folder();
    let before =
        flow("log('hi'); const a = await agent('one', { label: 'a' }); return agent('two ' + a, { label: 'b' });");
    folder.write("w.ts", &before);
    for _ in 0..3 {
        assert_eq!(isolith(&folder, &["run", "w.ts", "--mock", "--quiet"]).code, 0);
    }
    for (text, code) in [
        (before.clone(), 0),
        // Other words for those who watch, another result, more to do after the end of what is on record, a change behind a patch.
        (before.replace("log('hi');", "log('hello'); log('more');"), 0),
        (
            before.replace(
                "return agent('two ' + a, { label: 'b' });",
                "const b = await agent('two ' + a, { label: 'b' }); return { a, b };",
            ),
            0,
        ),
        (before.replace("const a =", "if (patched('more')) await agent('zero', { label: 'z' }); const a ="), 0),
        (before.replace("'one'", "'ONE'"), 1),
        (before.replace("const a =", "await agent('zero', { label: 'z' }); const a ="), 1),
        (before.replace("await agent('one', { label: 'a' })", "'x'"), 1),
    ] {
        folder.write("changed.ts", &text);
        let held = isolith(&folder, &["replay-check", "changed.ts", "--json"]);
        assert_eq!(held.code, code, "{text}\n{held:?}");
        assert_eq!(held.stdout.lines().count(), 3);
    }
}

#[test]
fn a_run_is_forked_at_any_step_and_retried_before_its_failure() {
    let folder = folder();
    with_agents(&folder);
    folder.write("w.ts", &flow("const a = await agent('fast a', { label: 'a' }); const b = await agent('bad b', { label: 'b' }); return [a, b];"));
    let failed = isolith(&folder, &[&["run", "w.ts"], &WITH[..]].concat());
    assert_eq!((failed.code, &result(&failed)["status"]), (1, &json!("failed")), "{failed:?}");
    assert_eq!(calls(&folder), ["fast a", "bad b"]);
    let script = std::fs::read_to_string(folder.path().join("agent.sh")).unwrap().replace("exit 1", "true");
    folder.write("agent.sh", &script);
    let retried = isolith(&folder, &[&["retry", "last"], &WITH[..]].concat());
    assert_eq!(result(&retried)["value"], json!(["did fast a", "did bad b"]), "{retried:?}");
    assert_eq!(calls(&folder), ["fast a", "bad b", "bad b"]);
    let forked = isolith(&folder, &[&["fork", "last", "--at", "0"], &WITH[..]].concat());
    assert_eq!(result(&forked)["value"], json!(["did fast a", "did bad b"]), "{forked:?}");
    assert_eq!(calls(&folder).len(), 5);
    folder.write("w.ts", &flow("return parallel(['x', 'y', 'z'].map((l) => () => agent(l, { label: l })));"));
    assert_eq!(isolith(&folder, &["run", "w.ts", "--mock", "--quiet"]).code, 0);
    // What came together is kept in part.
    let forked = isolith(&folder, &["fork", "last", "--at", "1", "--json"]);
    assert_eq!(forked.stdout.matches("agent-started").count(), 2, "{forked:?}");
    let too_far = isolith(&folder, &[&["fork", "last", "--at", "9"], &WITH[..]].concat());
    assert!(too_far.code == 2 && too_far.stderr.contains("workflow.step"), "{too_far:?}");
}

#[test]
fn a_journal_goes_to_another_machine_and_on_from_there() {
    let (here, there) = (folder(), folder());
    with_agents(&there);
    with_agents(&here);
    here.write("w.ts", &flow("const a = await agent('fast a', { label: 'a' }); const s = await waitFor('s'); return [a, s, await agent('fast b', { label: 'b' })];"));
    let waits = isolith(&here, &[&["run", "w.ts", "--suspend"], &WITH[..]].concat());
    assert_eq!(waits.code, 75, "{waits:?}");
    there.write("journal", &isolith(&here, &["export", "last", "--form", "journal"]).stdout);
    assert_eq!(isolith(&there, &["import", "journal"]).code, 0);
    assert_eq!(isolith(&there, &["signal", "last", "s", "7"]).code, 0);
    let refused = isolith(&there, &["resume", "last", "--agents", "agents.toml"]);
    assert!(refused.code == 2 && refused.stderr.contains("workflow.consent"), "{refused:?}");
    assert!(calls(&there).is_empty(), "nobody has agreed to a program that came with a journal");
    let done = isolith(&there, &[&["resume", "last"], &WITH[..]].concat());
    assert_eq!(result(&done)["value"], json!(["did fast a", 7, "did fast b"]), "{done:?}");
    assert_eq!(calls(&there), ["fast b"]);
    // The lines of other implementations, out and in.
    let lines = isolith(&there, &["export", "last", "--form", "lines"]).stdout;
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

#[test]
fn an_agent_works_in_a_session_by_programs() {
    let folder = folder();
    // It writes a program until it is told what came of one.
    let script = "#!/bin/sh\nprompt=$(cat)\ncase \"$prompt\" in\n  *'it returned'*) printf 'done: %s' \"$(echo \"$prompt\" | tail -1)\";;\n  *) printf '```ts\\nawait files.write(\"made.txt\", typeof fetch); return (await files.list(\".\")).length\\n```';;\nesac\n";
    folder.write("agent.sh", script);
    std::fs::set_permissions(folder.path().join("agent.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("agents.toml", "[agents]\ndefault = \"coder\"\n[agents.thinker]\nkind = \"command\"\nprogram = \"./agent.sh\"\n[agents.coder]\nkind = \"session\"\nsession = \"notes\"\nagent = \"thinker\"\n");
    folder.write("w.ts", &flow("return agent('look', { label: 'l' });"));
    let none = isolith(&folder, &[&["run", "w.ts"], &WITH[..]].concat());
    assert!(none.code == 1 && result(&none)["error"]["cause"].as_str().unwrap().contains("notes"), "{none:?}");
    let session = |args: &[&str]| {
        let mut command = command(&[&["session"], args].concat());
        ran(command.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap())
    };
    assert_eq!(session(&["create", "notes"]).code, 0);
    let done = isolith(&folder, &[&["run", "w.ts"], &WITH[..]].concat());
    assert_eq!(result(&done)["value"], "done: it returned 1", "{done:?}");
    assert_eq!(session(&["read", "notes", "made.txt"]).stdout, "undefined");
}

#[test]
fn the_same_bytes_come_out_at_any_time_in_any_zone_and_locale() {
    let folder = folder();
    folder.write(
        "w.ts",
        &flow(
            "const tried = {}; const attempt = (name, fn) => { try { tried[name] = String(fn()); } catch (e) { tried[name] = String(e); } };\n\
             attempt('now', () => Date.now()); attempt('date', () => new Date()); attempt('call', () => Date()); attempt('random', () => Math.random());\n\
             attempt('constructor', () => new (new Date(0).constructor)()); attempt('intl', () => new Intl.DateTimeFormat().format());\n\
             attempt('zone', () => new Date(0).getTimezoneOffset() + ' ' + new Date(0).toString()); attempt('locale', () => new Date(0).toLocaleString() + (1234.5).toLocaleString() + ['b', 'ä', 'a'].sort((x, y) => x.localeCompare(y)));\n\
             for (const name of ['WeakRef', 'FinalizationRegistry', 'performance', 'crypto', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'setTimeout', 'fetch', 'process', 'gc']) tried[name] = typeof globalThis[name];\n\
             attempt('parsed', () => new Date('2026-05-30T10:00').getTime()); attempt('stack', () => new Error('x').stack.length > 0);\n\
             return [tried, await agent('p', { label: 'l' })];",
        ),
    );
    let probe = |zone: &str, locale: &str| {
        let mut command = prepared(&folder, &["run", "w.ts", "--mock", "--quiet"]);
        command.env("TZ", zone).env("LANG", locale).env("LC_ALL", locale).env("HOME", format!("/{zone}"));
        ran(command.output().unwrap()).stdout
    };
    let first = probe("UTC", "C");
    std::thread::sleep(Duration::from_millis(30));
    for (zone, locale) in [("America/New_York", "de_DE.UTF-8"), ("Asia/Kolkata", "tr_TR.UTF-8"), ("Pacific/Apia", "C")]
    {
        assert_eq!(probe(zone, locale), first, "{zone} {locale}");
    }
    assert!(first.contains("Date.now() is not allowed in a workflow"), "{first}");
    let exported: Vec<String> = isolith(&folder, &["list", "--json"]).stdout.lines().map(str::to_owned).collect();
    assert_eq!(exported.len(), 1);
}

#[test]
fn a_run_in_the_background_is_watched_paused_and_stopped() {
    let folder = folder();
    with_agents(&folder);
    folder.write(
        "w.ts",
        &flow(
            "try { for (let i = 0; i < 10000; i++) await agent('slow ' + i, { label: 'n' + i }); }\n\
             finally { await cleanup(() => agent('fast bye', { label: 'bye' })); }",
        ),
    );
    let begun = isolith(&folder, &["run", "w.ts", "--yes", "--agents", "agents.toml", "--detach"]);
    assert_eq!(begun.code, 0, "{begun:?}");
    let run = begun.stdout.trim();
    let status =
        || serde_json::from_str::<Value>(&isolith(&folder, &["show", run, "--json"]).stdout).unwrap()["status"].clone();
    let until = |wanted: &dyn Fn() -> bool, what: &str| {
        for _ in 0..600 {
            if wanted() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what}");
    };
    until(&|| calls(&folder).len() > 3, "it does not begin");
    assert_eq!(status(), "running");
    let busy = isolith(&folder, &["retry", run, "--yes"]);
    assert!(busy.code == 2 && busy.stderr.contains("workflow.alive"), "{busy:?}");
    assert_eq!(isolith(&folder, &["pause", run]).code, 0);
    until(
        &|| {
            let before = calls(&folder).len();
            std::thread::sleep(Duration::from_millis(300));
            calls(&folder).len() == before
        },
        "it does not pause",
    );
    let paused = calls(&folder).len();
    assert_eq!(isolith(&folder, &["resume", run]).code, 0);
    until(&|| calls(&folder).len() > paused, "it does not go on");
    assert_eq!(isolith(&folder, &["stop", run]).code, 0);
    until(&|| status() == "stopped", "it does not stop");
    assert!(calls(&folder).iter().any(|call| call == "fast bye"), "{:?}", calls(&folder));
    let watched = isolith(&folder, &["watch", run]);
    assert!(watched.code == 1 && watched.stdout.contains("✓"), "{watched:?}");
}
