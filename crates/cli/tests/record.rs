//! A recorded run can be done once more without doing anything, and whatever is different then is found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::origin::{Origin, reply};
use support::place::{Place, place};

/// Commands that stand for tools: one that counts how often it is run, and one that fails.
const MARK: &str = "mark=echo x >> marks; cat";
const FAIL: &str = "fail=exit 1 ";
/// How long a process is given to write down what it did.
const PATIENCE: Duration = Duration::from_secs(30);

/// Programs that use what there is to use. Each is run with several seeds.
const PROGRAMS: [&str; 20] = [
    "return [Math.random(), crypto.randomUUID(), Date.now(), new Date().toISOString()]",
    "const n = await tools.mark({ n: input }); console.log('got', n); return n",
    "return await Promise.all([3, 1, 2].map((n) => tools.mark(n)))",
    "return await Promise.allSettled([tools.mark(1), tools.fail(2), fetch(BASE + '/missing'), kv.cache.get('none')]).then((all) => all.map((one) => one.status))",
    "await tools.fail('uncaught')",
    "await kv.cache.put('n', (await kv.cache.get('n') ?? 0) + 1); return await kv.cache.get('n')",
    "await files.write('out/a.bin', new Uint8Array([0, 255, 1])); return [...await files.read('out/a.bin')]",
    "return await files.readText('notes.txt')",
    "return await files.readText('none.txt').catch((error) => error.code)",
    "await files.readText('/etc/passwd')",
    "const r = await fetch(BASE + '/json'); return [r.status, await r.json(), [...r.headers.keys()].length > 0]",
    "const r = await fetch(BASE + '/large'); let n = 0; for await (const piece of r.body) n += piece.length; return n",
    "return await (await fetch(BASE + '/away')).text()",
    "return await (await fetch(BASE + '/echo', { method: 'POST', body: 'x'.repeat(100_000) })).text()",
    "await fetch('https://not.granted.example/')",
    "const order = []; await Promise.all([9, 1, 5].map((ms) => new Promise((done) => setTimeout(() => { order.push(ms); done(); }, ms)))); return order",
    "const slow = new Promise((done) => setTimeout(done, 50, 'slow')); return await Promise.race([slow, tools.mark('fast')])",
    "tools.mark('nobody waits'); console.error('leaves'); return 1",
    "console.log(performance.now() >= 0, Date.now()); null.x",
    "return await invoke('callee', input)",
];

fn origin() -> (Origin, String) {
    let origin = Origin::plain(|request, wire| match request.path() {
        "/json" => reply(wire, "200 OK", &[("content-type", "application/json")], br#"{"a":[1,2]}"#),
        "/large" => reply(wire, "200 OK", &[], &vec![7; 1 << 20]),
        "/away" => reply(wire, "302 Found", &[("location", "/there")], b""),
        "/echo" => reply(wire, "200 OK", &[], &request.body),
        "/there" => reply(wire, "200 OK", &[], b"there"),
        _ => reply(wire, "404 Not Found", &[], b""),
    });
    let base = format!("http://127.0.0.1:{}", origin.port());
    (origin, base)
}

/// A place with something in it, and the flags that make it usable.
fn furnished(base: &str) -> (Place, Vec<String>) {
    let place = place();
    place.write("notes.txt", "some notes");
    place.write("input.json", "41");
    place.write("callee.ts", "await kv.cache.put('called', input); return input + 1");
    let address = format!("BASE=\"{base}\"");
    let flags = [
        &["--input", "input.json", "--arg", &address, "--allow-net", base][..],
        &["--tool", MARK, "--tool", FAIL, "--allow-kv", "cache", "--allow-write", "out", "--allow-read", "notes.txt"],
        &["--allow-read", "none.txt", "--program", "callee=callee.ts"],
    ];
    (place, flags.concat().into_iter().map(str::to_owned).collect())
}

fn with<'a>(start: &[&'a str], flags: &'a [String]) -> Vec<&'a str> {
    start.iter().copied().chain(flags.iter().map(String::as_str)).collect()
}

/// Programs of the conformance suite that need no more than `echo`: those with a clock of their own, and those without.
fn conformance(folder: &str, clock: bool) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(Path::new("../../conformance").join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "js"));
    files.sort();
    files.retain(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let header = |key: &str| text.lines().find(|line| line.starts_with(&format!("//! {key} ")));
        let tools = header("tools").is_none_or(|line| line == "//! tools = [\"echo\"]");
        tools && header("limits").is_none() && header("input").is_none() && header("time").is_some() == clock
    });
    files.iter().map(|path| path.canonicalize().unwrap()).collect()
}

/// One of several outcomes. Their values may hold what no string of Rust can, so nothing else of them is read.
#[derive(serde::Deserialize)]
struct Line {
    outcome: Named,
}

#[derive(serde::Deserialize)]
struct Named {
    run: String,
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn verify(place: &Place) -> (i32, Vec<Value>) {
    let ran = place.isolith(&["audit", "verify", "--reexecute", "--json"]);
    (ran.code, lines(&ran.stdout))
}

#[test]
fn two_hundred_runs_replay_to_the_same_outcome_and_nothing_is_done() {
    let (origin, base) = origin();
    let (place, flags) = furnished(&base);
    let (mut recorded, mut failed) = (Vec::new(), 0);
    for round in 0..2 {
        for program in PROGRAMS {
            let seed = round.to_string();
            let start = ["eval", program, "--record", "--json"];
            let start = if round == 0 { start.to_vec() } else { [&start[..], &["--seed", &seed]].concat() };
            let ran = place.isolith(&with(&start, &flags));
            let outcome: Value =
                serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{program}: {}", ran.stderr));
            failed += usize::from(outcome["status"] == "error");
            recorded.push(outcome["run"].as_str().unwrap().to_owned());
        }
    }
    // The tool that fails, the file and the host that are not granted, and the one that is wrong.
    assert_eq!(failed, 8);
    for (clock, count) in [(true, 60), (false, 110)] {
        let folders = ["async", "determinism", "errors", "globals", "language", "shapes", "timers", "tools", "values"];
        let all: Vec<PathBuf> = folders.iter().flat_map(|folder| conformance(folder, clock)).collect();
        assert!(all.len() >= 20, "only {} programs were found", all.len());
        // Every so many, so that all folders have their part.
        let every = all.len().div_ceil(count);
        let files: Vec<String> = all.iter().step_by(every).map(|path| path.display().to_string()).collect();
        let mut args = vec!["run", "--record", "--tool", "echo=cat"];
        args.extend(files.iter().map(String::as_str));
        args.extend(if clock { &["--time", "0"][..] } else { &[] });
        let ran = place.isolith(&args);
        let outcomes: Vec<Line> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(outcomes.len(), files.len(), "{}", ran.stderr);
        recorded.extend(outcomes.into_iter().map(|line| line.outcome.run));
    }
    let mut more = 0;
    while recorded.len() < 200 {
        more += 1;
        let program = format!("return [{more}, Math.random(), await tools.mark({more})]");
        let ran = place.isolith(&with(&["eval", &program, "--record", "--json"], &flags));
        recorded.push(serde_json::from_str::<Value>(&ran.stdout).unwrap()["run"].as_str().unwrap().to_owned());
    }

    // What the programs used is gone, or is looked at afterwards.
    let marks = place.work.read("marks");
    let all = ["--limit", "100000"];
    let counted = place.isolith(&["eval", "return await kv.get('n')", "--allow-kv", "cache"]);
    let audited = place.audit(&all).len() + 1;
    drop(origin);
    std::fs::remove_file(place.work.path().join("notes.txt")).unwrap();
    std::fs::remove_dir_all(place.work.path().join("out")).unwrap();
    let (code, found) = verify(&place);

    let wrong: Vec<&Value> = found.iter().filter(|one| one["verdict"] != "same").collect();
    assert_eq!((code, wrong), (0, Vec::<&Value>::new()));
    let mut runs: Vec<&str> = found.iter().map(|one| one["run"].as_str().unwrap()).collect();
    runs.sort_unstable();
    recorded.sort_unstable();
    assert_eq!(runs, recorded);
    assert!(runs.len() >= 200, "only {} runs", runs.len());

    assert_eq!(place.work.read("marks"), marks, "the tool was run again");
    assert_eq!(place.isolith(&["eval", "return await kv.get('n')", "--allow-kv", "cache"]), counted);
    assert!(!place.work.path().join("out").exists(), "a file was written again");
    assert_eq!(place.audit(&all).len(), audited, "something was audited again");
}

/// Lines of a journal, each with its checksum made right again.
fn forge(place: &Place, run: &str, change: impl Fn(String) -> String) {
    let path = place.data_path().join("journals").join(format!("{run}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut sum = String::new();
    let forged: String = text
        .lines()
        .map(|line| {
            let record = change(line.split_once(' ').unwrap().1.to_owned());
            sum = isolith_core::Digest::of(&format!("{sum}{record}")).to_string()[..16].to_owned();
            format!("{sum} {record}\n")
        })
        .collect();
    std::fs::write(path, forged).unwrap();
}

const PLANTED: &str = "const a = await tools.mark({ a: 1 }); console.log('between'); const b = await tools.mark({ b: a.a + 1 }); return b.b";

fn planted(change: impl Fn(String) -> String) -> (i32, Value) {
    let place = place();
    let ran = place.isolith(&["eval", PLANTED, "--record", "--json", "--tool", MARK]);
    let run = serde_json::from_str::<Value>(&ran.stdout).unwrap()["run"].as_str().unwrap().to_owned();
    forge(&place, &run, change);
    let ran = place.isolith(&["replay", "last", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| json!(ran.stderr));
    (ran.code, json!([found["verdict"], found["code"], found["divergence"]["at"]]))
}

#[test]
fn a_planted_change_is_found_and_named() {
    assert_eq!(planted(|record| record), (0, json!(["same", null, null])), "forging alone changes nothing");
    let different = |at: &str| (1, json!(["different", "replay.divergence", at]));
    // A reply that leads to another call.
    assert_eq!(planted(|record| record.replace(r#"{"value":{"a":1}}"#, r#"{"value":{"a":7}}"#)), different("call 1"));
    // A reply that leads to another value.
    assert_eq!(
        planted(|record| record.replace(r#"{"value":{"b":2}}"#, r#"{"value":{"b":3}}"#)),
        different("the outcome")
    );
    // The program, without its digest and with it.
    assert_eq!(planted(|record| record.replace("b: a.a + 1", "b: a.a + 2")), different("the program"));
    let digest = |text: &str| isolith_core::Digest::of(text).to_string();
    let other = PLANTED.replace("between", "betwixt");
    let swap = |record: String| record.replace("between", "betwixt").replace(&digest(PLANTED), &digest(&other));
    assert_eq!(planted(swap), different("turn 2"));
    // A call, what was decided about it, the hash.
    assert_eq!(planted(|record| record.replace(r#""digest":""#, r#""digest":"f"#)), different("call 0"));
    let acts = |record: String| record.replace(r#""outcome":"ok""#, r#""outcome":"denied""#);
    assert_eq!(planted(acts), different("the outcome"));
    assert_eq!(planted(|record| record.replace(r#""hash":""#, r#""hash":"f"#)), different("the outcome"));
    // The time that the program saw is not part of what it made here, and a record that is not there is.
    let none = |record: String| if record.starts_with("{\"step") { "{}".into() } else { record };
    assert_eq!(planted(none).0, 2);
}

#[test]
fn a_journal_that_was_touched_is_named_by_verify() {
    let place = place();
    for program in ["return 1", "return 2"] {
        assert_eq!(place.isolith(&["eval", program, "--record"]).code, 0);
    }
    let folder = place.data_path().join("journals");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text = std::fs::read_to_string(&files[1]).unwrap();
    std::fs::write(&files[1], text.replace("return 2", "return 3")).unwrap();
    let (code, found) = verify(&place);
    let short: Vec<Value> = found.iter().map(|one| json!([one["verdict"], one["code"]])).collect();
    assert_eq!((code, short), (1, vec![json!(["same", null]), json!(["damaged", "replay.damaged"])]));
    let run = files[1].file_stem().unwrap().to_str().unwrap();
    let ran = place.isolith(&["audit", "verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains(run) && ran.stderr.contains("record 1 does not fit its checksum"), "{}", ran.stderr);
}

#[test]
fn a_run_that_was_suspended_and_resumed_is_one_journal() {
    let place = place();
    let program = "console.log('one'); const a = await tools.mark(Math.random()); await new Promise((done) => setTimeout(done, 300)); console.log('two'); return [a, await tools.mark(Math.random())]";
    let ran = place.isolith(&["eval", program, "--record", "--suspend", "state", "--tool", MARK]);
    assert_eq!(ran.code, 75, "{}", ran.stderr);
    let listed = lines(&place.isolith(&["replay", "--json"]).stdout)[0].clone();
    assert_eq!(listed[0]["state"], "suspended");
    let state = place.work.read("state");
    let resumed = place.isolith(&["resume", "state", "--tool", MARK, "--json"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let replayed = place.isolith(&["replay", "last", "--json"]);
    let found: Value = serde_json::from_str(&replayed.stdout).unwrap();
    assert_eq!((replayed.code, &found["verdict"]), (0, &json!("same")), "{found}");
    let outcome: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!(found["outcome"]["value"], outcome["value"]);

    // A second life of the same state is no part of the journal.
    place.work.write_bytes("state", &state);
    let again = place.isolith(&["resume", "state", "--tool", MARK]);
    assert_eq!(again.code, 0);
    assert!(again.stderr.contains("this run was resumed before"), "{}", again.stderr);
    let replayed = place.isolith(&["replay", "last", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&replayed.stdout).unwrap(), found);
}

#[test]
fn a_process_that_was_killed_leaves_what_it_recorded() {
    let place = place();
    let program = "await tools.mark(1); await tools.mark(2); console.log('waits'); await new Promise((done) => setTimeout(done, 60_000))";
    let mut child =
        place.command(&["eval", program, "--record", "--tool", MARK]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "waits\n");
    // What it said comes from within the turn that is recorded a moment later.
    let started = Instant::now();
    let states = || serde_json::from_str::<Value>(&place.isolith(&["why", "last", "--json"]).stdout).unwrap();
    while states().as_array().unwrap().len() < 2 && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed: Value = serde_json::from_str(&place.isolith(&["replay", "--json"]).stdout).unwrap();
    assert_eq!((&listed[0]["state"], &listed[0]["calls"]), (&json!("unfinished"), &json!(2)));
    place.isolith(&["replay", "last"]).is(0, "eval: the same as far as the journal goes, which has no end\n", "");
}

#[test]
fn a_secret_is_in_no_journal_and_the_replay_says_so() {
    let place = place().with("TOKEN_VALUE", "s3cr3t-of-the-house");
    let flags = ["--secret", "T=env:TOKEN_VALUE", "--reveal", "T", "--tool", MARK, "--record"];
    // Told before and after it is known to be one, in the call, in the reply and in the value.
    let program = "const early = await tools.mark(['s3cr3t', 'of', 'the', 'house'].join('-')); const t = await secrets.get('T'); return [early, await tools.mark({ t })]";
    let ran = place.isolith(&[&["eval", program][..], &flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for entry in std::fs::read_dir(place.data_path().join("journals")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("s3cr3t-of-the-house") && text.contains("[redacted T]"), "{text}");
    }
    let replayed = place.isolith(&["replay", "last"]);
    let said = "error: eval cannot be replayed exactly: it was told a secret, which its journal does not hold [replay.redacted]\nhint: `isolith why` still explains its calls\n";
    replayed.is(2, "", said);
    let (code, found) = verify(&place);
    assert_eq!((code, &found[0]["verdict"], found.len()), (0, &json!("redacted"), 1));
}

#[test]
fn an_end_by_the_clock_is_compared_up_to_it() {
    let place = place();
    let rows = [
        ("await tools.mark(1); for (;;);", "--cpu", "cpu_limit"),
        ("await tools.mark(1); await new Promise((done) => setTimeout(done, 60_000))", "--timeout", "timeout"),
    ];
    for (program, flag, kind) in rows {
        let ran = place.isolith(&["eval", program, "--record", "--tool", MARK, flag, "400ms"]);
        assert_eq!(ran.code, 124, "{}", ran.stderr);
        let ran = place.isolith(&["replay", "last", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &found["verdict"], &found["ended"]), (0, &json!("same_so_far"), &json!(kind)), "{found}");
    }
}

#[test]
fn a_replay_stops_before_a_reply_and_shows_the_program() {
    let place = place();
    let program = r#"const orders = [{ id: 1, cents: 250 }], seen = new Map([["a", 1]]);
globalThis.shared = "everywhere";
console.log("begins");
let total = 0;
const [first, second] = await Promise.all([tools.mark(1), tools.mark({ two: 2 })]);
total += first;
const third = await tools.mark("three");
return total"#;
    place.write("program.ts", program);
    assert_eq!(place.isolith(&["run", "program.ts", "--record", "--tool", MARK]).code, 0);
    let marks = place.work.read("marks");
    let at = |call: &str, more: &[&str]| place.isolith(&[&["replay", "last", "--until", call][..], more].concat());
    at("2", &["--eval", "orders[0].cents / 100", "--eval", "nothing.there"]).is(
        0,
        "stopped before the reply to call 2
written so far:
  begins
answered so far:
  call 0 mark
  call 1 mark
waiting for:
  call 2 mark
variables:
  orders = [ { id: 1, cents: 250 } ]
  seen = Map(1) { 'a' => 1 }
  total = 1
  first = 1
  second = { two: 2 }
  third = (third is not initialized)
  orders[0].cents / 100 = 2.5
  nothing.there = (nothing is not defined)
  shared = 'everywhere'
",
        "",
    );
    let found: Value = serde_json::from_str(&at("0", &["--json"]).stdout).unwrap();
    let pending: Vec<&Value> = found["pending"].as_array().unwrap().iter().map(|one| &one["asked"]["args"]).collect();
    // The other of the two may have been answered first.
    assert!(pending.contains(&&json!(1)), "{found}");
    assert!(found["seen"].as_array().unwrap().contains(&json!({ "name": "total", "value": "0" })), "{found}");
    at("9", &[]).is(
        2,
        "",
        &format!(
            "error: the run has no call 9 [replay.unknown]\nhint: `isolith why {}` lists its calls\n",
            found["run"].as_str().unwrap()
        ),
    );
    assert_eq!(at("2", &["--eval", "1 +"]).code, 2);
    assert_eq!(place.work.read("marks"), marks, "looking ran the tool");
}

#[test]
fn a_program_that_looks_at_its_own_text_is_shown_without_its_variables() {
    let place = place();
    let program = "const where = new Error().stack; await tools.mark(where); return 1";
    assert_eq!(place.isolith(&["eval", program, "--record", "--tool", MARK]).code, 0);
    let ran = place.isolith(&["replay", "last", "--until", "0"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("its variables cannot be shown: it looks at its own text\n"), "{}", ran.stdout);
    assert_eq!(place.isolith(&["replay", "last"]).code, 0);
}

#[test]
fn why_explains_a_decision() {
    let place = place();
    place.write("policy.toml", "grants = [\"kv:read notes\", \"tool:mark\"]\n");
    place.write("manifest.toml", "[[grants]]\nkind = \"tool\"\nname = \"mark\"\ncalls = 2\nargs = { n = \"<= 5\" }\n");
    let program = "const tries = [() => tools.mark({ n: 1 }), () => tools.mark({ n: 9 }), () => tools.mark({ n: 2 }), () => tools.mark({ n: 3 }), () => kv.notes.get('a'), () => kv.notes.put('a', 1)]; const all = []; for (const go of tries) all.push(await go().then(() => 'ok', (e) => e.code)); return all";
    let flags = ["--record", "--json", "--manifest", "manifest.toml", "--allow-kv", "notes", "--policy", "policy.toml"];
    let ran = place.isolith(&[&["eval", program][..], &flags].concat());
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let denied = json!(["tool.missing", "tool.denied", "tool.missing", "tool.denied", "ok", "kv.denied"]);
    assert_eq!(outcome["value"], denied);

    let why = |call: &str| -> Value {
        serde_json::from_str(&place.isolith(&["why", "last", call, "--json"]).stdout).unwrap()
    };
    let decisions: Vec<Value> = (0..6).map(|call| why(&call.to_string())["decided"]["decision"].clone()).collect();
    assert_eq!(decisions, ["allowed", "refused", "allowed", "refused", "allowed", "refused"]);
    assert_eq!(why("2")["decided"]["budgets"], json!([{ "of": "tool:mark", "calls": 2, "used": 1 }]));
    let spent = why("3");
    assert_eq!(spent["decided"]["why"], "`tool:mark` may be used 2 times, and was");
    let bound = why("1");
    assert!(bound["decided"]["why"].as_str().unwrap().starts_with("granted only within bounds"), "{bound}");
    let refused = place.isolith(&["why", "last", "5"]);
    refused.is(
        0,
        "call      5 of eval: put notes
asked     {\"kind\":\"kv\",\"space\":\"notes\",\"op\":\"put\",\"key\":\"a\",\"value\":1}
decided   refused
because   not granted: `kv:notes` would allow it
wanted    `kv:notes`
done      put notes by `kv:notes`: denied
answered  DeniedError: changing the key space `notes` is not granted: `kv:notes` would allow it [kv.denied]
policy    left `kv:read notes` of `kv:notes`
",
        "",
    );
    let listed = place.isolith(&["why", "last"]);
    assert_eq!(listed.stdout.lines().nth(4), Some("call 4 allowed get notes"));
}

#[test]
fn a_policy_is_tested_on_what_runs_did() {
    let (_origin, base) = origin();
    let place = place();
    let program = format!(
        "await fetch('{base}/away').then((r) => r.text()); await kv.cache.get('a'); await kv.cache.put('a', 1); await tools.mark(1); await tools.mark(2); return await fetch('{base}/secret').catch((e) => e.code)"
    );
    let net = [format!("GET {base}/away"), format!("GET {base}/there")];
    let flags = ["--allow-net", &net[0], "--allow-net", &net[1], "--allow-kv", "cache", "--tool", MARK, "--record"];
    let ran = place.isolith(&[&["eval", &program][..], &flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let marks = place.work.read("marks");

    let tool = "{ kind = \"tool\", name = \"mark\", command = \"echo x >> marks; cat\"";
    let test = |grants: &str| -> (i32, Vec<Value>) {
        place.write("new.toml", &format!("grants = [{grants}]\n"));
        let ran = place.isolith(&["policy", "test", "new.toml", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let flip = |one: &Value| json!([one["what"], one["before"]["decision"], one["after"]["decision"]]);
        (ran.code, found["flips"].as_array().unwrap().iter().map(flip).collect())
    };
    let same = format!("\"egress:{base}\", \"kv:cache\", {tool} }}");
    assert_eq!(test(&same), (0, vec![]));
    let stricter = format!("\"egress:GET {base}/away\", \"ask kv:read cache\", {tool}, calls = 1 }}");
    assert_eq!(
        test(&stricter),
        (
            1,
            vec![
                json!([format!("GET {base}/there"), "allowed", "refused"]),
                json!(["get cache", "allowed", "asked"]),
                json!(["put cache", "allowed", "refused"]),
                json!(["mark", "allowed", "refused"]),
            ]
        )
    );
    // The run asks for no more than it did, so nothing can be allowed that it never asked to be granted.
    assert_eq!(place.work.read("marks"), marks, "testing a policy ran the tool");

    // What a policy took away, another gives back.
    place.write("policy.toml", "grants = [\"kv:read cache\"]\n");
    let narrow = ["--allow-kv", "cache", "--policy", "policy.toml", "--record"];
    assert_eq!(
        place.isolith(&[&["eval", "return await kv.put('a', 1).catch((e) => e.code)"][..], &narrow].concat()).code,
        0
    );
    place.write("new.toml", "grants = [\"kv:cache\"]\n");
    let ran = place.isolith(&["policy", "test", "new.toml", "last"]);
    ran.is(1, "refused → allowed put cache (eval, call 0: `kv:cache`)\nruns: 1, decisions: 1, would change: 1\n", "");
}

#[test]
fn names_of_runs_and_their_end() {
    let place = place();
    let ran = place.isolith(&["replay", "last"]);
    ran.is(2, "", "error: no run is recorded [replay.unknown]\nhint: `isolith run --record FILE` records a run, and `isolith replay` lists the recorded ones\n");
    let record = |program: &str| -> String {
        let ran = place.isolith(&["eval", program, "--record", "--json"]);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["run"].as_str().unwrap().to_owned()
    };
    // What cannot be parsed is recorded, too.
    let runs = [record("return 1"), record("return (")];
    for run in &runs {
        assert_eq!(place.isolith(&["replay", run]).code, 0);
    }
    assert_eq!(place.isolith(&["replay", &runs[0][..1]]).code, 2, "both begin so");
    assert_eq!(place.isolith(&["replay", &runs[0][..runs[0].len() - 1]]).code, 0);
    assert_eq!(place.isolith(&["replay", &runs[0], "--forget"]).code, 0);
    let listed: Vec<Value> = serde_json::from_str(&place.isolith(&["replay", "--json"]).stdout).unwrap();
    let listed: Vec<Value> = listed.iter().map(|one| json!([one["run"], one["state"]])).collect();
    assert_eq!(listed, [json!([runs[1], "error"])]);
    assert_eq!(place.isolith(&["replay", "../key"]).code, 2);
    // Without `--record` nothing is kept.
    assert_eq!(place.isolith(&["eval", "return 1"]).code, 0);
    assert_eq!(place.isolith(&["replay"]).stdout.lines().count(), 1);
}
