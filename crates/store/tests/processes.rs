//! Several processes at once, and processes that are killed. The test binary starts itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    AuditLog as _, AuditRow, BindingName, CallOutcome, HostReply, Json, KvOp, RunId, SecretName, Timestamp,
};
use isolith_store::{AuditQuery, DataFolder};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
            audit.flush().unwrap();
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
