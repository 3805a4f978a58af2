//! Calls that someone has to agree to: the run waits outside memory, whatever becomes of the process, and each call is made once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::server::{Answer, Served, key, serve};
use support::{Folder, Ran, command, folder, ran};

/// Three calls at once, two of which ask.
const PROGRAM: &str = "const first = await tools.look({ n: 1 });
const all = await Promise.allSettled([
  tools.look({ n: 2 }),
  tools.deploy({ env: 'prod' }),
  tools.deploy({ env: 'test' }),
]);
return { first, all: all.map((one) => one.status === 'fulfilled' ? one.value : `${one.reason.code}: ${one.reason.message}`) };
";

/// What programs may do here. Each tool leaves a mark when it is called.
const POLICY: &str = r#"grants = [
  { kind = "tool", name = "look", command = ["tee", "-a", "look.log"] },
  { kind = "tool", name = "deploy", command = ["tee", "-a", "deploy.log"], rule = "ask" },
  "kv:notes",
  "ask kv:secrets",
]
"#;

const DENIED: &str = "tool.denied: the tool `deploy` has to be agreed to by someone: not today (`ask tool:deploy`)";

fn place() -> Folder {
    let folder = folder();
    folder.write("p.ts", PROGRAM);
    folder.write("policy.toml", POLICY);
    folder
}

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    let data = folder.path().join("data");
    ran(command(args).current_dir(folder.path()).env("ISOLITH_DATA", data).output().unwrap())
}

fn marks(folder: &Folder, name: &str) -> String {
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    // Calls side by side leave theirs in any order.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.concat()
}

/// Starts the program by the command line and gives the name of the run that waits.
fn waiting(folder: &Folder, args: &[&str]) -> String {
    let ran = isolith(folder, &[&["run", "p.ts", "--manifest", "policy.toml", "--json"], args].concat());
    assert_eq!(ran.code, 75, "{}", ran.stderr);
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(outcome["status"], "suspended");
    let asked: Vec<&Value> = outcome["approvals"].as_array().unwrap().iter().map(|ask| &ask["args"]).collect();
    assert_eq!(asked, [&json!({ "env": "prod" }), &json!({ "env": "test" })]);
    assert!(outcome.get("waiting_for").is_none(), "{outcome}");
    outcome["run"].as_str().unwrap().to_owned()
}

fn resumed(folder: &Folder, run: &str) -> Value {
    let ran = isolith(folder, &["resume", run, "--json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

#[test]
fn a_run_waits_for_a_word_outside_memory_and_each_call_is_made_once() {
    let folder = place();
    let run = waiting(&folder, &[]);
    assert_eq!(
        (marks(&folder, "look.log").as_str(), marks(&folder, "deploy.log").as_str()),
        ("{\"n\":1}{\"n\":2}", "")
    );
    let said = isolith(&folder, &["approvals", "approve", &run, "2", "--args", r#"{"env":"staging"}"#]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    // The other call still waits.
    assert_eq!(resumed(&folder, &run)["approvals"][0]["id"], 3);
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"staging"}"#);
    let said = isolith(&folder, &["approvals", "deny", &run, "--reason", "not today"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let outcome = resumed(&folder, &run);
    let expected = json!({ "first": { "n": 1 }, "all": [{ "n": 2 }, { "env": "staging" }, DENIED] });
    assert_eq!((&outcome["status"], &outcome["value"]), (&json!("ok"), &expected));
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"staging"}"#);
    assert_eq!(marks(&folder, "look.log"), "{\"n\":1}{\"n\":2}");
    assert!(isolith(&folder, &["resume", &run]).stderr.contains("has ended"));
    assert_eq!(isolith(&folder, &["approvals", "list", "--json"]).stdout, "[]\n");
}

#[test]
fn a_yes_can_be_good_for_the_run_or_for_the_program() {
    let folder = place();
    let run = waiting(&folder, &[]);
    assert_eq!(isolith(&folder, &["approvals", "approve", &run, "2", "--for-run"]).code, 0);
    assert_eq!(resumed(&folder, &run)["status"], "ok");
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"prod"}{"env":"test"}"#);

    // For the run it was; the next one asks again.
    let run = waiting(&folder, &[]);
    assert_eq!(isolith(&folder, &["approvals", "approve", &run, "2", "--always"]).code, 0);
    assert_eq!(resumed(&folder, &run)["status"], "ok");
    let ran = isolith(&folder, &["run", "p.ts", "--manifest", "policy.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // For this program, and not for one that differs in a character.
    folder.write("p.ts", &format!("{PROGRAM} "));
    waiting(&folder, &[]);
}

#[test]
fn a_program_is_another_one_when_a_module_of_it_is() {
    let folder = place();
    assert_eq!(isolith(&folder, &["session", "create", "s"]).code, 0);
    for (name, text) in [
        ("lib.ts", "export const env = 'test';"),
        ("p.ts", "import { env } from './lib.ts'; export default () => tools.deploy({ env });"),
    ] {
        assert_eq!(isolith(&folder, &["session", "write", "s", name, "--text", text]).code, 0);
    }
    let run = ["session", "run", "s", "p.ts", "--manifest", "policy.toml", "--json"];
    let asked = isolith(&folder, &run);
    assert_eq!(asked.code, 75, "{}", asked.stderr);
    let outcome: Value = serde_json::from_str(&asked.stdout).unwrap();
    let id = outcome["run"].as_str().unwrap();
    assert_eq!(isolith(&folder, &["approvals", "approve", id, "--all", "--always"]).code, 0);
    assert_eq!(resumed(&folder, id)["status"], "ok");
    assert_eq!(isolith(&folder, &run).code, 0);
    // The same text, of which the import says something else now.
    assert_eq!(isolith(&folder, &["session", "edit", "s", "lib.ts", "--old", "test", "--new", "prod"]).code, 0);
    assert_eq!(isolith(&folder, &run).code, 75);
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"test"}{"env":"test"}"#);
}

#[test]
fn what_is_asked_is_shown_with_what_was_done_and_what_may_come() {
    let folder = place();
    let more =
        format!("{}await kv.notes.put('done', true);\n{}", &PROGRAM[..PROGRAM.find("return").unwrap()], "return 1");
    folder.write("p.ts", &more);
    let run = waiting(&folder, &[]);
    let shown = isolith(&folder, &["approvals", "show", &run[..8]]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let expected = "p.ts asks:
  2: the tool `deploy` because of `ask tool:deploy`, line 4 or 5
     with {\"env\":\"prod\"}
  3: the tool `deploy` because of `ask tool:deploy`, line 4 or 5
     with {\"env\":\"test\"}
done so far:
  look (\"ok\")
  look (\"ok\")
may still come:
  `kv:notes`, line 7
the program:
     1 | const first = await tools.look({ n: 1 });
     2 | const all = await Promise.allSettled([
     3 |   tools.look({ n: 2 }),
>    4 |   tools.deploy({ env: 'prod' }),
>    5 |   tools.deploy({ env: 'test' }),
     6 | ]);
     7 | await kv.notes.put('done', true);
     8 | return 1
";
    assert_eq!(shown.stdout, expected);
    let listed = isolith(&folder, &["approvals", "list"]).stdout;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let json: Value = serde_json::from_str(&isolith(&folder, &["approvals", "show", &run, "--json"]).stdout).unwrap();
    assert_eq!((&json["asks"][0]["lines"], &json["ahead"][0]["grant"]), (&json!([4, 5]), &json!("kv:notes")));
}

#[test]
fn a_word_that_makes_no_sense_is_refused() {
    let folder = place();
    let run = waiting(&folder, &[]);
    let rows: [(&[&str], &str); 9] = [
        (&["approve", &run], "several calls of this run wait"),
        (&["approve", &run, "7"], "call 7 of this run does not wait"),
        (&["approve", &run, "1"], "call 1 of this run does not wait"),
        (&["approve", "nothing"], "no run `nothing` waits"),
        (&["approve", &run, "2", "--args", "{"], "`--args` is not JSON"),
        (&["approve", &run, "--all", "--args", "{}"], "other arguments are for one call"),
        (&["approve", &run, "2", "--for-run", "--args", "{}"], "changed arguments are good for this call only"),
        (&["show", "nothing"], "no run `nothing` waits"),
        (&["deny", &run, "2", "--reason", &"x".repeat(1_001)], "a reason has at most 1000 characters"),
    ];
    for (args, message) in rows {
        let ran = isolith(&folder, &[&["approvals"], args].concat());
        assert_eq!((ran.code, ran.stderr.contains(message)), (2, true), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(isolith(&folder, &["approvals", "deny", &run, "2"]).code, 0);
    let again = isolith(&folder, &["approvals", "approve", &run, "2"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert_eq!(marks(&folder, "deploy.log"), "");
}

#[test]
fn changed_arguments_are_held_against_the_grant_like_any() {
    let folder = place();
    folder.write("policy.toml", &POLICY.replace("rule = \"ask\"", "rule = \"ask\", args = { env = \"t*\" }"));
    for (args, expected) in [(r#"{"env":"mars"}"#, "tool.denied"), (r#"{"env":"tent"}"#, r#"{"env":"tent"}"#)] {
        folder.write("p.ts", "return await tools.deploy({ env: 'test' }).catch((error) => error.code)");
        let ran = isolith(&folder, &["run", "p.ts", "--manifest", "policy.toml", "--json"]);
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
        let run = outcome["run"].as_str().unwrap();
        assert_eq!(isolith(&folder, &["approvals", "approve", run, "--args", args]).code, 0);
        let value = resumed(&folder, run)["value"].clone();
        assert_eq!(value.as_str().map_or_else(|| value.to_string(), str::to_owned), expected);
    }
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"tent"}"#);
}

#[test]
fn nobody_answered_in_time_is_a_no() {
    let folder = place();
    let run = waiting(&folder, &["--approval-time", "2s"]);
    std::thread::sleep(Duration::from_millis(2_100));
    let late = isolith(&folder, &["approvals", "approve", &run, "2"]);
    assert_eq!(late.code, 2, "{}", late.stderr);
    let outcome = resumed(&folder, &run);
    assert!(outcome["value"]["all"][1].as_str().unwrap().contains("nobody answered in time"), "{outcome}");
    assert_eq!(marks(&folder, "deploy.log"), "");
}

/// Starts the program on a server, and waits until it asks.
fn ask(server: &Served, key: &str) -> String {
    let names = ["look", "deploy"];
    let tools = names.map(|name| format!("tool:{name}"));
    let mut grants: Vec<&str> = tools.iter().map(String::as_str).collect();
    grants.push("kv:secrets");
    let outcome = server.post("/v1/runs", key, &json!({ "program": PROGRAM, "grants": grants })).json();
    assert_eq!(outcome["status"], "suspended", "{outcome}");
    assert!(outcome.get("resume").is_none(), "{outcome}");
    outcome["run"].as_str().unwrap().to_owned()
}

fn say(server: &Served, key: &str, run: &str, words: &Value) -> Answer {
    server.post(&format!("/v1/runs/{run}/approvals"), key, &json!({ "approvals": words }))
}

#[test]
fn a_server_that_is_killed_while_someone_is_asked_loses_nothing_and_does_nothing_twice() {
    let folder = place();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let run = ask(&server, "");
    server.kill();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let open = server.get("/v1/approvals", "").json();
    assert_eq!(open["approvals"].as_array().unwrap().len(), 2, "{open}");
    let review = server.get(&format!("/v1/runs/{run}/approvals"), "").json();
    assert_eq!((&review["source"], &review["asks"][1]["args"]), (&json!(PROGRAM), &json!({ "env": "test" })));
    let half =
        say(&server, "", &run, &json!([{ "id": 2, "decision": "approve", "args": { "env": "staging" } }])).json();
    assert_eq!((&half["status"], &half["approvals"][0]["id"]), (&json!("suspended"), &json!(3)), "{half}");
    server.kill();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let whole = say(&server, "", &run, &json!([{ "id": 3, "decision": "deny", "reason": "not today" }])).json();
    let expected = json!({ "first": { "n": 1 }, "all": [{ "n": 2 }, { "env": "staging" }, DENIED] });
    assert_eq!(whole["value"], expected, "{whole}");
    assert_eq!(marks(&folder, "look.log"), "{\"n\":1}{\"n\":2}");
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"staging"}"#);
    let twice = say(&server, "", &run, &json!([{ "id": 3, "decision": "approve" }]));
    assert_eq!((twice.status, twice.code().as_str()), (409, "approval.answered"));
}

#[test]
fn a_word_at_a_terminal_is_heard_by_a_server() {
    let folder = place();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let run = ask(&server, "");
    assert_eq!(isolith(&folder, &["approvals", "approve", &run, "--all"]).code, 0);
    let ended = server.get(&format!("/v1/runs/{run}?wait=30s"), "");
    let outcome = if ended.status == 200 && ended.json()["status"] != "suspended" {
        ended.json()
    } else {
        // It hears of it within a moment.
        let mut outcome = ended.json();
        for _ in 0..600 {
            if outcome["status"] == "ok" {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            outcome = server.get(&format!("/v1/runs/{run}"), "").json();
        }
        outcome
    };
    assert_eq!(outcome["status"], "ok", "{outcome}");
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"prod"}{"env":"test"}"#);
}

#[test]
fn only_a_key_for_it_may_agree_and_only_to_its_own_runs() {
    let folder = place();
    let worker = key(&folder, &["worker", "--policy", "policy.toml"]);
    let boss = key(&folder, &["boss", "--policy", "policy.toml", "--scope", "runs,approvals"]);
    let server = serve(&folder, &[]);
    let run = ask(&server, &worker);
    let yes = json!([{ "id": 2, "decision": "approve" }]);
    let own = say(&server, &worker, &run, &yes);
    assert_eq!((own.status, own.code().as_str()), (403, "key.scope"));
    let others = say(&server, &boss, &run, &yes);
    assert_eq!((others.status, others.code().as_str()), (404, "run.unknown"));
    assert_eq!(server.get("/v1/approvals", &boss).json(), json!({ "approvals": [] }));
    assert_eq!(server.get("/v1/approvals", &worker).status, 403);
    // Whoever has the machine sees all of them.
    assert_eq!(isolith(&folder, &["approvals", "list"]).stdout.lines().count(), 2);
    let run = ask(&server, &boss);
    assert_eq!(server.get("/v1/approvals", &boss).json()["approvals"][0]["run"], json!(run));
    assert_eq!(say(&server, &boss, &run, &yes).status, 200);
    assert_eq!(marks(&folder, "deploy.log"), r#"{"env":"prod"}"#);
}

#[test]
fn what_is_wrong_with_a_word_is_said_with_its_place() {
    let folder = place();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let run = ask(&server, "");
    let rows = [
        (json!({}), 400, "request.invalid"),
        (json!({ "approvals": [] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "decision": "approve" }] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "id": 2, "decision": "maybe" }] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "id": 2, "decision": "approve", "scope": "run" }] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "id": 2, "decision": "deny", "args": {} }] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "id": 2, "decision": "approve", "reason": "x" }] }), 400, "request.invalid"),
        (json!({ "approvals": [{ "id": 1, "decision": "approve" }] }), 404, "approval.unknown"),
        (json!({ "approvals": [{ "id": 99, "decision": "approve" }] }), 404, "approval.unknown"),
    ];
    for (body, status, code) in rows {
        let answer = server.post(&format!("/v1/runs/{run}/approvals"), "", &body);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body}");
    }
    assert_eq!(say(&server, "", "no-such-run", &json!([{ "id": 2, "decision": "deny" }])).status, 404);
    assert_eq!(marks(&folder, "deploy.log"), "");
}

#[test]
fn a_key_space_can_ask_too() {
    let folder = place();
    let server = serve(&folder, &["--policy", "policy.toml"]);
    let program = "await kv.put('k', 1); return await kv.get('k')";
    let asked = server.post("/v1/runs", "", &json!({ "program": program, "grants": ["kv:secrets"] })).json();
    assert_eq!(asked["approvals"][0]["grant"], "ask kv:secrets", "{asked}");
    let run = asked["run"].as_str().unwrap();
    let edited = say(&server, "", run, &json!([{ "id": 0, "decision": "approve", "args": {} }]));
    assert_eq!(edited.status, 400, "{edited:?}");
    let done = say(&server, "", run, &json!([{ "id": 0, "decision": "approve", "consent": "run" }])).json();
    assert_eq!(done["value"], 1, "{done}");
}

#[test]
fn a_plan_does_nothing_and_shows_what_would_be_asked() {
    let folder = place();
    let program = "const known = await kv.notes.get('n');
await kv.notes.put('n', 1);
const both = await Promise.all([tools.deploy({ env: 'prod', known }), tools.deploy({ env: 'test' })]);
if (both[0].ok) await tools.look({ n: 1 });
return both";
    folder.write("p.ts", program);
    let plan = isolith(&folder, &["run", "p.ts", "--manifest", "policy.toml", "--plan"]);
    let expected = "asks: the tool `deploy` with {\"env\":\"prod\",\"known\":null} (`ask tool:deploy`, line 3)
asks: the tool `deploy` with {\"env\":\"test\"} (`ask tool:deploy`, line 3)
left out: put notes
may come: `tool:look`, line 4
";
    assert_eq!((plan.code, plan.stdout.as_str()), (0, expected), "{}", plan.stderr);
    assert!(plan.stderr.contains("it stops here"), "{}", plan.stderr);
    assert_eq!(isolith(&folder, &["approvals", "list", "--json"]).stdout, "[]\n");
    assert_eq!((marks(&folder, "deploy.log"), marks(&folder, "look.log")), (String::new(), String::new()));
    let kept = isolith(&folder, &["eval", "return await kv.notes.get('n') ?? 'nothing'", "--allow-kv", "notes"]);
    assert_eq!(kept.stdout, "nothing\n", "{}", kept.stderr);
    // A tool that asks nobody may do anything: it is not called, and what it would say is not made up.
    folder.write("p.ts", "return (await tools.look({ n: 1 })).n");
    let json = isolith(&folder, &["run", "p.ts", "--manifest", "policy.toml", "--plan", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["not_made"], &json["stopped"]), (&json!(["look"]), &json!("unknown")), "{json:#}");
    assert_eq!(marks(&folder, "look.log"), "");
}

#[test]
fn a_client_that_takes_its_time_over_a_tool_that_was_agreed_to_is_not_asked_again() {
    let folder = place();
    folder.write("policy.toml", "grants = [\"ask tool:mail\"]\n");
    let server = serve(&folder, &["--policy", "policy.toml", "--hold", "0ms"]);
    let body = json!({ "program": "return await tools.mail(1)", "grants": ["ask tool:mail"], "tools": ["mail"] });
    let asked = server.post("/v1/runs", "", &body).json();
    let run = asked["run"].as_str().unwrap().to_owned();
    let word = json!([{ "id": 0, "decision": "approve", "args": 2 }]);
    let called = say(&server, "", &run, &word).json();
    // It waits for its client now, outside memory, also through a crash.
    assert_eq!(
        (&called["status"], &called["waiting_for"][0]["call"]["args"]),
        (&json!("suspended"), &json!(2)),
        "{called}"
    );
    server.kill();
    let server = serve(&folder, &["--policy", "policy.toml", "--hold", "0ms"]);
    let again = server.get(&format!("/v1/runs/{run}"), "").json();
    let reply = json!({ "resume": again["resume"], "replies": [{ "id": 0, "value": "sent" }] });
    let done = server.post(&format!("/v1/runs/{run}/calls"), "", &reply).json();
    assert_eq!((&done["status"], &done["value"]), (&json!("ok"), &json!("sent")), "{done}");
}

#[test]
fn a_program_can_be_asked_about_before_it_is_invoked() {
    let folder = place();
    folder.write("twice.ts", "return 2 * input");
    let flags = ["--program", "twice=twice.ts", "--grant", "ask invoke:twice"];
    let ran = isolith(&folder, &[&["eval", "return await invoke('twice', 1)", "--json"], &flags[..]].concat());
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
    let run = outcome["run"].as_str().unwrap();
    assert_eq!(isolith(&folder, &["approvals", "approve", run, "--args", "21"]).code, 0);
    assert_eq!(resumed(&folder, run)["value"], 42);
    // What it would ask about itself is refused: its caller is at work meanwhile.
    folder.write("asks.ts", "return await tools.deploy(1).catch((error) => error.code)");
    let flags = ["--program", "asks=asks.ts", "--manifest", "policy.toml"];
    let ran = isolith(&folder, &[&["eval", "return await invoke('asks')"], &flags[..]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "tool.denied\n"), "{}", ran.stderr);
    assert_eq!(marks(&folder, "deploy.log"), "");
}
