//! What workflows may do besides calling agents: tools of namespaces, calls that someone agrees to, values of a bounded size.

use super::{WITH, calls, flow, isolith, prepared, result, with_agents};
use crate::support::terminal::{At, Session};
use crate::support::{Folder, folder};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

const MOCK: [&str; 3] = ["--mock", "--json", "--yes"];

fn run(folder: &Folder, args: &[&str]) -> Value {
    result(&isolith(folder, &[&["run", "w.ts"], &MOCK[..], args].concat()))
}

#[test]
fn the_tools_of_a_namespace_are_there_with_the_grant() {
    let folder = folder();
    let server = std::path::Path::new("../upstream/tests/servers/mcp.py").canonicalize().unwrap();
    let servers = json!({ "mcpServers": { "my-sums": { "command": "python3", "args": [server] } } });
    folder.write(".mcp.json", &servers.to_string());
    folder.write(
        "w.ts",
        &flow("return typeof tools?.my_sums === 'undefined' ? 'none' : (await tools.my_sums.add({ a: 1, b: 2 })).sum;"),
    );
    assert_eq!(run(&folder, &[])["value"], "none");
    assert_eq!(run(&folder, &["--mcp-servers", ".mcp.json"])["value"], 3);
    // Told again, nobody is called.
    std::fs::remove_file(folder.path().join(".mcp.json")).unwrap();
    assert_eq!(isolith(&folder, &["replay-check", "w.ts", "last"]).code, 0);
}

/// A workflow that deploys twice, where each has to be agreed to.
fn deploys() -> Folder {
    let folder = folder();
    folder.write("policy.toml", "grants = [{ kind = \"tool\", name = \"deploy\", command = [\"tee\", \"-a\", \"deploy.log\"], rule = \"ask\" }]\n");
    folder.write("w.ts", &flow("const all = await Promise.allSettled([tools.deploy({ env: 'test' }), tools.deploy({ env: 'prod' })]);\nreturn all.map((one) => one.value?.env ?? one.reason.code);"));
    folder
}

const ASKS: [&str; 2] = ["--manifest", "policy.toml"];

fn deployed(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path().join("deploy.log")).unwrap_or_default()
}

#[test]
fn a_call_that_asks_waits_on_disk_for_a_word_and_is_made_once() {
    let folder = deploys();
    let alone = run(&folder, &ASKS);
    assert_eq!(alone["value"], json!(["tool.denied", "tool.denied"]), "nobody is there to be asked: {alone}");
    let waits = run(&folder, &[&ASKS[..], &["--suspend"]].concat());
    assert_eq!(waits["status"], "waiting", "{waits}");
    assert_eq!(deployed(&folder), "");
    let asked = std::fs::read_to_string(
        folder.path().join("data/events").join(format!("{}.jsonl", waits["run"].as_str().unwrap())),
    );
    assert!(
        asked.as_ref().unwrap().contains("the tool `deploy` with {\\\"env\\\":\\\"test\\\"}: may it?"),
        "{asked:?}"
    );
    let nonsense = isolith(&folder, &["answer", "last", "approve:0", "maybe"]);
    assert!(nonsense.code == 2 && nonsense.stderr.contains("someone's word"), "{nonsense:?}");
    let edited = json!({ "decision": "approve", "args": { "env": "staging" } }).to_string();
    assert_eq!(isolith(&folder, &["answer", "last", "approve:0", &edited]).code, 0);
    let half = isolith(&folder, &[&["resume", "last", "--suspend", "--json"], &ASKS[..]].concat());
    assert_eq!((half.code, deployed(&folder).as_str()), (75, "{\"env\":\"staging\"}\n"), "{half:?}");
    assert_eq!(isolith(&folder, &["answer", "last", "approve:1", "no"]).code, 0);
    let done = isolith(&folder, &[&["resume", "last", "--suspend", "--json"], &ASKS[..]].concat());
    assert_eq!(result(&done)["value"], json!(["staging", "tool.denied"]), "{done:?}");
    assert_eq!(deployed(&folder), "{\"env\":\"staging\"}\n");
}

#[test]
fn a_yes_for_the_run_is_for_what_the_same_grant_asks_and_a_call_that_was_begun_is_not_begun_again() {
    let folder = deploys();
    let waits = run(&folder, &[&ASKS[..], &["--suspend"]].concat());
    assert_eq!(waits["status"], "waiting", "{waits}");
    assert_eq!(isolith(&folder, &["answer", "last", "approve:0", "run"]).code, 0);
    let done = isolith(&folder, &[&["resume", "last", "--suspend", "--json"], &ASKS[..]].concat());
    assert_eq!(result(&done)["value"], json!(["test", "prod"]), "{done:?}");
    // A process that dies between the word and its answer leaves the call as begun.
    folder.write("kills.sh", "#!/bin/sh\necho once >> deploy.log\nkill -9 $PPID\nsleep 1\n");
    let kills = folder.path().join("kills.sh");
    std::fs::set_permissions(&kills, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.write(
        "policy.toml",
        "grants = [{ kind = \"tool\", name = \"deploy\", command = [\"./kills.sh\"], rule = \"ask\" }]\n",
    );
    folder.write("w.ts", &flow("return await tools.deploy({}).catch((e) => e.code + e.message);"));
    let before = deployed(&folder);
    assert_eq!(run(&folder, &[&ASKS[..], &["--suspend"]].concat())["status"], "waiting");
    assert_eq!(isolith(&folder, &["answer", "last", "approve:0", "yes"]).code, 0);
    let killed = isolith(&folder, &[&["resume", "last", "--suspend", "--json"], &ASKS[..]].concat());
    assert_ne!(killed.code, 0, "{killed:?}");
    let done = isolith(&folder, &[&["resume", "last", "--suspend", "--json"], &ASKS[..]].concat());
    assert!(result(&done)["value"].as_str().unwrap().contains("whether it was done is not known"), "{done:?}");
    assert_eq!(deployed(&folder), format!("{before}once\n"));
}

#[test]
fn whoever_agrees_sees_what_a_workflow_needs_and_what_of_that_is_not_granted() {
    let folder = folder();
    folder.write("w.ts", &flow("await kv.notes.put('a', 1); return (await fetch('https://api.example/x')).status;"));
    let checked = isolith(&folder, &["check", "w.ts"]).stdout;
    assert!(
        checked.contains("needs      egress:GET https://api.example/x (not granted: it will be refused)"),
        "{checked}"
    );
    let mut session =
        Session::start(&mut prepared(&folder, &["run", "w.ts", "--mock", "--allow-kv", "notes"]), At::Both);
    session.expect("run it? ");
    session.type_line("n");
    let (code, _, screen) = session.end();
    assert_eq!(code, 2, "{screen}");
    let line =
        |need: &str| screen.lines().find(|line| line.contains("needs") && line.contains(need)).unwrap().to_owned();
    assert!(!line("kv:notes").contains("not granted"), "{screen}");
    assert!(line("egress:").contains("not granted"), "{screen}");
}

#[test]
fn a_value_over_a_mebibyte_fails_and_is_not_cut() {
    let folder = folder();
    with_agents(&folder);
    folder.write("agent.sh", "#!/bin/sh\nhead -c $1 /dev/zero | tr '\\0' x\n");
    folder.write("w.ts", &flow("return (await agent(String(args), { label: 'l' })).length;"));
    let with = |n: u32| result(&isolith(&folder, &[&["run", "w.ts", "--args", &n.to_string()], &WITH[..]].concat()));
    assert_eq!(with(1_000_000)["value"], 1_000_000);
    let large = with(1_100_000);
    assert_eq!(large["status"], "failed", "{large}");
    let shown: Value = serde_json::from_str(&isolith(&folder, &["show", "last", "--json"]).stdout).unwrap();
    let told = shown["answers"][0]["output"].to_string();
    assert!(!told.contains("xxxx"), "a part of it is on record");
    folder.write("w.ts", &flow("return 'x'.repeat(args);"));
    assert_eq!(with(1_000_000)["value"].as_str().unwrap().len(), 1_000_000);
    assert_eq!(with(1_100_000)["status"], "failed");
}

fn git(folder: &Folder, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args).current_dir(folder.path());
    let done = git.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn an_agent_works_in_a_worktree_of_its_own_and_its_changes_are_kept() {
    let folder = folder();
    with_agents(&folder);
    folder.write("agent.sh", "#!/bin/sh\ncase \"$1\" in *write*) echo new > made.txt;; esac\npwd\n");
    folder.write("w.ts", &flow("const one = (prompt) => agent(prompt, { label: prompt, isolation: 'worktree' });\nreturn [await one('write'), await one('look'), await agent('here', { label: 'h' })];"));
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "first"]);
    let absolute = folder.path().join("agent.sh");
    folder.write(
        "agents.toml",
        &format!("[agents.a]\nkind = \"command\"\nprogram = {absolute:?}\nargs = [\"{{prompt}}\"]\n"),
    );
    let done = isolith(&folder, &[&["run", "w.ts"], &WITH[..]].concat());
    let value = result(&done)["value"].clone();
    let place = |n: usize| std::path::PathBuf::from(value[n].as_str().unwrap_or_else(|| panic!("{done:?}")).trim());
    assert_eq!(std::fs::read_to_string(place(0).join("made.txt")).unwrap(), "new\n", "{value}");
    assert!(!folder.path().join("made.txt").exists());
    assert!(!place(1).exists(), "one that left nothing is gone: {value}");
    assert_eq!(place(2).canonicalize().unwrap(), folder.path().canonicalize().unwrap());
    assert!(done.stdout.contains("its changes are in"), "{}", done.stdout);
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 2);
    std::fs::remove_dir_all(place(0).parent().unwrap()).unwrap();
}

#[test]
fn what_was_spent_counts_after_a_journal_moved() {
    let (here, there) = (folder(), folder());
    here.write("w.ts", &flow("const left = budget.remaining(); await agent('p', { label: 'a' }); await waitFor('s'); const now = [budget.total, left, budget.remaining()];\nreturn [now, await agent('q', { label: 'b' }).catch((e) => e.workflowError.kind)];").replace("cleanup }", "cleanup, budget }"));
    with_agents(&here);
    with_agents(&there);
    let waits = isolith(&here, &[&["run", "w.ts", "--suspend", "--budget", "1"], &WITH[..]].concat());
    assert_eq!(waits.code, 75, "{waits:?}");
    there.write("journal", &isolith(&here, &["export", "last", "--form", "journal"]).stdout);
    assert_eq!(isolith(&there, &["import", "journal"]).code, 0);
    assert_eq!(isolith(&there, &["signal", "last", "s"]).code, 0);
    let done = isolith(&there, &[&["resume", "last"], &WITH[..]].concat());
    let value = result(&done)["value"].clone();
    assert_eq!(value[0], json!([1, 1, 0]), "{done:?}");
    assert_eq!(value[1], "BudgetExhausted", "{done:?}");
    assert!(calls(&there).is_empty());
}
