//! Several processes at once, and processes that are killed. The test binary starts itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    ApiKeys as _, AuditLog as _, AuditRow, BindingName, CallId, CallOutcome, CallerId, HostReply, Json, Keeper, KvOp,
    RunId, RunRecord, RunState, RunStore as _, Scope, SecretName, Timestamp,
};
use isolith_store::{AuditQuery, DataFolder, NewKey, Runs};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const INCREMENTS: usize = 150;
const PROCESSES: usize = 3;

/// Starts one of the ignored tests below in a process of its own.
fn start(child: &str, data: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([child, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("ISOLITH_TEST_DATA", data).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
}

fn data() -> DataFolder {
    DataFolder::open(std::env::var_os("ISOLITH_TEST_DATA").unwrap()).unwrap()
}

fn counter(kv: &isolith_store::Kv) -> (u64, u64) {
    let get = KvOp::Get { keys: vec!["counter".into()] };
    match kv.perform_now(&BindingName::new("shared").unwrap(), 1 << 20, &get, Timestamp::default()) {
        HostReply::Value { json: Some(json) } => {
            let found: Vec<Option<serde_json::Value>> = json.parse().unwrap();
            found[0].as_ref().map_or((0, 0), |e| (e["value"].as_u64().unwrap(), e["version"].as_u64().unwrap()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "started by another test"]
fn child_counts() {
    let kv = data().kv().unwrap();
    for _ in 0..INCREMENTS {
        loop {
            let (value, version) = counter(&kv);
            let put = KvOp::Put {
                key: "counter".into(),
                value: Json::of(&(value + 1)).unwrap(),
                ttl_ms: None,
                metadata: None,
                expect: Some(version),
            };
            match kv.perform_now(&BindingName::new("shared").unwrap(), 1 << 20, &put, Timestamp::default()) {
                HostReply::Value { json: Some(json) } if json.text() == "null" => {}
                HostReply::Value { .. } => break,
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn no_increment_is_lost_between_processes() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..PROCESSES).map(|_| start("child_counts", folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let total = (PROCESSES * INCREMENTS) as u64;
    assert_eq!(counter(&DataFolder::open(folder.path()).unwrap().kv().unwrap()), (total, total));
}

fn row(number: u64) -> AuditRow {
    AuditRow {
        at: Timestamp::from_micros(u64::MAX >> 2),
        run: RunId("r".into()),
        program: "p".into(),
        grant: "kv:notes".into(),
        what: format!("row {number}"),
        host: None,
        outcome: CallOutcome::Ok,
        error: None,
        duration_us: 1,
        bytes_out: 0,
        bytes_in: 0,
    }
}

#[test]
#[ignore = "started by another test"]
fn child_writes_audit_rows_until_killed() {
    let audit = data().audit().unwrap();
    for number in 0.. {
        audit.record(row(number));
        if number % 50 == 49 {
            audit.flush_blocking().unwrap();
            println!("\nflushed {}", number + 1);
            std::io::stdout().flush().unwrap();
        }
    }
}

#[test]
fn every_flushed_row_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3u64 {
        let before = rows(folder.path()).len() as u64;
        let mut child = start("child_writes_audit_rows_until_killed", folder.path());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let flushed = lines.filter_map(|line| line.strip_prefix("flushed ").map(|n| n.parse::<u64>().unwrap()));
        let mut last = 0;
        for flushed in flushed {
            last = flushed;
            if last >= 200 * (round + 1) {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let found = rows(folder.path());
        assert!(found.len() as u64 >= before + last, "{} < {before} + {last}", found.len());
        for (number, what) in found[before as usize..].iter().enumerate() {
            assert_eq!(*what, format!("row {number}"), "rows are whole and in order");
        }
    }
    for (path, sound) in DataFolder::open(folder.path()).unwrap().check() {
        sound.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn rows(data: &Path) -> Vec<String> {
    let audit = DataFolder::open(data).unwrap().audit().unwrap();
    let query = AuditQuery { limit: u32::MAX, ..AuditQuery::default() };
    audit.query(&query).unwrap().into_iter().map(|row| row.what).collect()
}

#[test]
#[ignore = "started by another test"]
fn child_sets_a_secret() {
    let name = SecretName::new(&format!("own.{}", std::process::id())).unwrap();
    data().secrets().unwrap().set(&name, "value").unwrap();
}

#[test]
fn processes_that_come_first_together_make_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..4).map(|_| start("child_sets_a_secret", folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let secrets = DataFolder::open(folder.path()).unwrap().secrets().unwrap();
    let names = secrets.names().unwrap();
    assert_eq!(names.len(), 4);
    for entry in names {
        assert_eq!(secrets.value(&entry.name).unwrap().unwrap().as_str(), "value");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("key")).collect::<Vec<_>>(), ["key"]);
}

/// How often a process that writes runs is killed.
const KILLS: u64 = 60;
/// How many of its tasks write at a time, so that their writes are committed together.
const TASKS: u32 = 6;
/// So many acknowledgements at most before it is killed.
const ACKNOWLEDGED_MAX: u64 = 300;
/// And so much later at most.
const LATER_US_MAX: u64 = 3000;

/// How far a run of the process that is killed can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Added,
    Put,
}

/// The n-th run of a task, as it is to be found at a stage. States are of many sizes, and each is told from any other.
fn staged(name: &str, stage: Stage) -> RunRecord {
    let number = name.bytes().fold(7usize, |sum, byte| (sum * 31 + usize::from(byte)) % 60_000);
    let (state, suspended) = match stage {
        Stage::Added => (RunState::Running, None),
        Stage::Put => (RunState::Suspended, Some(name.as_bytes().iter().copied().cycle().take(number).collect())),
    };
    RunRecord {
        caller: CallerId("a".into()),
        run: RunId(name.into()),
        created: Timestamp::from_micros(1),
        expires: Timestamp::from_micros(2),
        state,
        outcome: Json::of(&(name, stage == Stage::Put)).unwrap(),
        suspended,
        wakes: None,
        continuation: None,
        keeper: Keeper::Server,
        session: None,
        asks: Vec::new(),
    }
}

fn reply(name: &str, call: u32) -> HostReply {
    HostReply::value(&(name, call))
}

fn say(what: &str) {
    // The test harness may be within a line. One write, so that a line is there whole or not at all.
    std::io::stdout().write_all(format!("\n{what}\n").as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
#[ignore = "started by another test"]
fn child_writes_runs_until_killed() {
    let runs = data().runs().unwrap();
    let task = async |task: u32| {
        for n in 0.. {
            let name = format!("t{task}n{n}");
            let (caller, run) = (CallerId("a".into()), RunId(name.clone()));
            assert!(runs.add(staged(&name, Stage::Added)).await.unwrap());
            say(&format!("added {name}"));
            for call in 0..3 {
                assert!(runs.answer(&caller, &run, CallId(call), reply(&name, call)).await.unwrap());
                say(&format!("answered {name} {call}"));
            }
            // From here on the first call is not open any more.
            runs.put(staged(&name, Stage::Put), vec![CallId(1), CallId(2)]).await.unwrap();
            say(&format!("put {name}"));
        }
    };
    runtime().block_on(async { tokio::join!(task(0), task(1), task(2), task(3), task(4), task(5)) });
}

/// What was acknowledged of one run.
#[derive(Default, Debug)]
struct Acknowledged {
    answered: BTreeSet<u32>,
    put: bool,
}

#[test]
fn every_acknowledged_write_of_runs_survives_a_kill_and_none_is_half() {
    let folder = tempfile::tempdir().unwrap();
    let chance = RandomState::new();
    let mut total = 0;
    for kill in 0..KILLS {
        let mut child = start("child_writes_runs_until_killed", folder.path());
        let mut acknowledged: BTreeMap<String, Acknowledged> = BTreeMap::new();
        let mut lines = 0;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            let words: Vec<&str> = line.trim_end().split(' ').collect();
            match words[..] {
                ["added", name] => _ = acknowledged.insert(name.into(), Acknowledged::default()),
                ["answered", name, call] => {
                    acknowledged.get_mut(name).unwrap().answered.insert(call.parse().unwrap());
                }
                ["put", name] => acknowledged.get_mut(name).unwrap().put = true,
                _ => lines -= 1,
            }
            lines += 1;
            line.clear();
            if lines == (chance.hash_one((kill, "lines")) % ACKNOWLEDGED_MAX) as i64 {
                // A moment has to be waited for here: right after an answer is not just any time.
                std::thread::sleep(Duration::from_micros(chance.hash_one((kill, "later")) % LATER_US_MAX));
                child.kill().unwrap();
            }
        }
        assert!(!child.wait().unwrap().success(), "it was killed");
        total += acknowledged.len();
        let runs = DataFolder::open(folder.path()).unwrap().runs().unwrap();
        runtime().block_on(inspect(&runs, &acknowledged, kill));
        assert_eq!(orphans(folder.path()), 0, "kill {kill}");
    }
    assert!(total > KILLS as usize, "hardly anything was written: {total}");
    for (path, sound) in DataFolder::open(folder.path()).unwrap().check() {
        sound.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Compares what there is with what was acknowledged, and removes it.
async fn inspect(runs: &Runs, acknowledged: &BTreeMap<String, Acknowledged>, kill: u64) {
    let caller = CallerId("a".into());
    let (mut found, mut after) = (Vec::new(), None);
    while let page @ [.., last] = &runs.unfinished(after.take()).await.unwrap()[..] {
        after = Some((last.caller.clone(), last.run.clone()));
        found.extend(page.iter().map(|record| record.run.clone()));
    }
    for name in acknowledged.keys() {
        assert!(found.iter().any(|run| run.0 == *name), "kill {kill}: {name} was added and is gone");
    }
    // At most the one write that each task was waiting for is there without having been acknowledged.
    assert!(found.len() <= acknowledged.len() + TASKS as usize, "kill {kill}");
    let nothing = Acknowledged::default();
    for run in &found {
        let told = acknowledged.get(&run.0).unwrap_or(&nothing);
        let record = runs.get(&caller, run).await.unwrap().unwrap();
        let answers = runs.answers(&caller, run).await.unwrap();
        let calls: BTreeSet<u32> = answers.iter().map(|(call, _)| call.0).collect();
        for (call, kept) in answers {
            assert_eq!(kept, reply(&run.0, call.0), "kill {kill}: {run}");
        }
        if record.state == RunState::Running {
            assert_eq!(record, staged(&run.0, Stage::Added), "kill {kill}");
            assert!(!told.put && calls.is_superset(&told.answered), "kill {kill}: {run} {told:?} {calls:?}");
        } else {
            assert_eq!(record, staged(&run.0, Stage::Put), "kill {kill}");
            assert_eq!(calls, BTreeSet::from([1, 2]), "kill {kill}: {run} {told:?}");
        }
    }
    assert_eq!(runs.expire(Timestamp::from_micros(2)).await, Ok(found.len() as u64));
}

/// How many answers belong to no run.
fn orphans(data: &Path) -> i64 {
    let db = rusqlite::Connection::open(data.join("runs.sqlite")).unwrap();
    db.query_row("SELECT count(*) FROM answers", [], |row| row.get(0)).unwrap()
}

/// How many runs two processes compete for.
const SHARED_RUNS: u32 = 200;

#[test]
#[ignore = "started by another test"]
fn child_competes_for_runs() {
    let runs = data().runs().unwrap();
    runtime().block_on(async {
        let caller = CallerId("a".into());
        for n in 0..SHARED_RUNS {
            let run = RunId(format!("shared{n}"));
            if runs.add(staged(&run.0, Stage::Added)).await.unwrap() {
                say(&format!("added {n}"));
            }
            if runs.answer(&caller, &run, CallId(7), HostReply::value(&std::process::id())).await.unwrap() {
                say(&format!("answered {n} {}", std::process::id()));
            }
        }
    });
}

#[test]
fn of_two_processes_one_adds_a_run_and_one_answers_it() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..2).map(|_| start("child_competes_for_runs", folder.path())).collect();
    let (mut added, mut answered) = (Vec::new(), BTreeMap::new());
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["added", n] => added.push(n.parse::<u32>().unwrap()),
                ["answered", n, by] => {
                    let earlier = answered.insert(n.parse::<u32>().unwrap(), by.parse::<u32>().unwrap());
                    assert_eq!(earlier, None, "answered twice");
                }
                _ => {}
            }
        }
    }
    added.sort();
    assert_eq!(added, (0..SHARED_RUNS).collect::<Vec<_>>(), "each was added by one");
    let runs = DataFolder::open(folder.path()).unwrap().runs().unwrap();
    for n in 0..SHARED_RUNS {
        let kept = runtime().block_on(runs.answers(&CallerId("a".into()), &RunId(format!("shared{n}")))).unwrap();
        assert_eq!(kept, [(CallId(7), HostReply::value(&answered[&n]))], "the one that was told so");
    }
}

#[test]
#[ignore = "started by another test"]
fn child_revokes_a_key() {
    data().keys().unwrap().revoke("agents").unwrap().unwrap();
}

#[test]
fn a_key_that_another_process_revokes_is_worth_nothing_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let keys = DataFolder::open(folder.path()).unwrap().keys().unwrap();
    let new = NewKey { name: "agents".into(), scopes: vec![Scope::Runs], policy: None, rate: None };
    let (key, _) = keys.create(new).unwrap();
    assert!(keys.any().unwrap() && keys.find(&key.caller).unwrap().unwrap().revoked.is_none());
    assert!(start("child_revokes_a_key", folder.path()).wait().unwrap().success());
    assert!(keys.find(&key.caller).unwrap().unwrap().revoked.is_some());
    assert_eq!(keys.any(), Ok(false));
}
