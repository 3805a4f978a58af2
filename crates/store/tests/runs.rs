//! Runs and their answers over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    BodyId, CallError, CallId, CallerId, HostReply, Json, Keeper, RunId, RunRecord, RunState, RunStore, Timestamp,
};
use isolith_store::{DataFolder, Runs};
use std::path::PathBuf;

struct Fixture {
    runs: Runs,
    path: PathBuf,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let runs = DataFolder::open(&path).unwrap().runs().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    Fixture { runs, path, runtime, _folder: folder }
}

fn caller(name: &str) -> CallerId {
    CallerId(name.into())
}

fn run(name: &str) -> RunId {
    RunId(name.into())
}

fn json(text: &str) -> Json {
    Json::from_text(text.into()).unwrap()
}

fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn record(whose: &str, name: &str) -> RunRecord {
    RunRecord {
        caller: caller(whose),
        run: run(name),
        created: at(10),
        expires: at(1000),
        state: RunState::Running,
        outcome: json(r#"{"status":"running"}"#),
        suspended: None,
        wakes: None,
        continuation: None,
        keeper: Keeper::Server,
        session: None,
        asks: Vec::new(),
    }
}

impl Fixture {
    fn add(&self, record: RunRecord) -> bool {
        self.runtime.block_on(self.runs.add(record)).unwrap()
    }

    fn put(&self, record: RunRecord, open: &[u32]) {
        let open = open.iter().copied().map(CallId).collect();
        self.runtime.block_on(self.runs.put(record, open)).unwrap();
    }

    fn get(&self, whose: &str, name: &str) -> Option<RunRecord> {
        self.runtime.block_on(self.runs.get(&caller(whose), &run(name))).unwrap()
    }

    fn find(&self, whose: &str, continuation: &str) -> Option<String> {
        let found = self.runtime.block_on(self.runs.find(&caller(whose), continuation)).unwrap();
        found.map(|record| record.run.0)
    }

    fn answer(&self, whose: &str, name: &str, call: u32, reply: HostReply) -> bool {
        self.runtime.block_on(self.runs.answer(&caller(whose), &run(name), CallId(call), reply)).unwrap()
    }

    fn answers(&self, whose: &str, name: &str) -> Vec<(u32, HostReply)> {
        let found = self.runtime.block_on(self.runs.answers(&caller(whose), &run(name))).unwrap();
        found.into_iter().map(|(call, reply)| (call.0, reply)).collect()
    }

    fn list(&self, whose: &str, before: Option<(u64, &str)>, limit: u32) -> Vec<String> {
        let before = before.map(|(created, name)| (at(created), run(name)));
        let before = before.as_ref().map(|(created, name)| (*created, name));
        let found = self.runtime.block_on(self.runs.list(&caller(whose), None, before, limit)).unwrap();
        assert!(found.iter().all(|record| record.suspended.is_none() && record.caller == caller(whose)));
        found.into_iter().map(|record| record.run.0).collect()
    }

    fn count(&self, table: &str) -> i64 {
        let db = rusqlite::Connection::open(self.path.join("runs.sqlite")).unwrap();
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }
}

/// One of everything that a reply can be.
fn replies() -> Vec<HostReply> {
    let value = |text: &str| HostReply::Value { json: Some(json(text)) };
    vec![
        value(r#"{"b":1.50,"a":"\ud800","n":[null,1e400], "\udfff":"\u0000"}"#),
        value("null"),
        HostReply::done(),
        value(r#""""#),
        HostReply::Body { body: BodyId(u32::MAX), length: Some(u64::MAX) },
        HostReply::Body { body: BodyId(0), length: None },
        HostReply::Bytes { bytes: vec![] },
        HostReply::Bytes { bytes: (0..=255).collect() },
        HostReply::failed("Error", "no \u{0} \u{10ffff} \"quoted\""),
        HostReply::Failed { error: CallError { name: String::new(), message: "".into(), code: Some("".into()) } },
        HostReply::failed_as("tool.failed", "TypeError", "line\nbreak"),
    ]
}

#[test]
fn what_is_put_is_got_back_as_it_was() {
    let f = fixture();
    let full = RunRecord {
        created: at(1),
        expires: at(i64::MAX as u64),
        state: RunState::Suspended,
        outcome: json(r#"{"value":"\ud800","n":1.50}"#),
        suspended: Some((0..=255).collect()),
        wakes: Some(at(0)),
        continuation: Some("c\u{0}ü".into()),
        ..record("local", "ä/../\u{0}")
    };
    let empty = RunRecord { suspended: Some(vec![]), ..record("local", "empty") };
    let large = RunRecord { suspended: Some(vec![7; 5 << 20]), ..record("local", "large") };
    let wide = RunRecord { outcome: json(&format!("\"{}\"", "x".repeat(3 << 20))), ..record("local", "wide") };
    for kept in [full, empty, large, wide, record("local", "plain")] {
        assert!(f.add(kept.clone()));
        assert_eq!(f.get("local", &kept.run.0).as_ref(), Some(&kept), "added");
        let changed = RunRecord { state: RunState::Ended, outcome: json("2"), suspended: None, ..kept.clone() };
        f.put(changed.clone(), &[]);
        assert_eq!(f.get("local", &kept.run.0).as_ref(), Some(&changed), "put in its place");
        f.put(kept.clone(), &[]);
        assert_eq!(f.get("local", &kept.run.0).as_ref(), Some(&kept), "and back");
    }
    assert_eq!(f.get("local", "none"), None);
    let new = record("local", "put without being added");
    f.put(new.clone(), &[]);
    assert_eq!(f.get("local", &new.run.0), Some(new));
}

#[test]
fn a_name_is_taken_once_by_each_caller() {
    let f = fixture();
    assert!(f.add(record("a", "r")));
    assert!(!f.add(RunRecord { outcome: json("1"), ..record("a", "r") }));
    assert_eq!(f.get("a", "r"), Some(record("a", "r")), "the second changed nothing");
    assert!(f.add(RunRecord { outcome: json("2"), ..record("b", "r") }));
    assert_eq!(f.get("a", "r").unwrap().outcome, json(r#"{"status":"running"}"#));
}

#[test]
fn ids_of_another_caller_never_answer() {
    let f = fixture();
    let mine = RunRecord { state: RunState::Suspended, continuation: Some("c".into()), ..record("a", "r") };
    f.add(mine.clone());
    f.answer("a", "r", 1, HostReply::done());
    for other in ["b", "A", "a ", "", "%", "a\u{0}", "local"] {
        assert_eq!(f.get(other, "r"), None, "{other:?}");
        assert_eq!(f.find(other, "c"), None, "{other:?}");
        assert_eq!(f.list(other, None, 10), Vec::<String>::new(), "{other:?}");
        assert_eq!(f.list(other, Some((1_000_000, "r")), 10), Vec::<String>::new(), "{other:?}");
        assert_eq!(f.answers(other, "r"), [], "{other:?}");
        let answered = f.runs.answer(&caller(other), &run("r"), CallId(2), HostReply::done());
        assert!(f.runtime.block_on(answered).is_err(), "{other:?}");
    }
    // The same names in other hands are other runs.
    f.add(RunRecord { continuation: Some("c".into()), state: RunState::Suspended, ..record("b", "r") });
    assert!(f.answer("b", "r", 1, HostReply::value(&1)));
    f.put(RunRecord { expires: at(5), ..record("b", "r") }, &[]);
    assert_eq!(f.answers("a", "r"), [(1, HostReply::done())], "another's put takes nothing of mine");
    assert_eq!(f.runtime.block_on(f.runs.expire(at(5))), Ok(1));
    assert_eq!(f.get("a", "r"), Some(mine), "nor does its end");
    assert_eq!(f.answers("a", "r"), [(1, HostReply::done())]);
}

#[test]
fn replies_come_back_exactly() {
    let f = fixture();
    f.add(record("a", "r"));
    for (call, reply) in replies().into_iter().enumerate() {
        assert!(f.answer("a", "r", call as u32, reply));
    }
    assert!(f.answer("a", "r", u32::MAX, HostReply::done()));
    let mut expected: Vec<(u32, HostReply)> = (0u32..).zip(replies()).collect();
    expected.push((u32::MAX, HostReply::done()));
    assert_eq!(f.answers("a", "r"), expected);
    // Large ones are read elsewhere, and are the same.
    let large = HostReply::Value { json: Some(json(&format!("\"{}\"", "x".repeat(3 << 20)))) };
    f.answer("a", "r", 77, large.clone());
    expected.insert(expected.len() - 1, (77, large));
    assert_eq!(f.answers("a", "r"), expected);
}

#[test]
fn a_call_is_answered_once() {
    let f = fixture();
    f.add(record("a", "r"));
    assert!(f.answer("a", "r", 1, HostReply::value(&"first")));
    assert!(!f.answer("a", "r", 1, HostReply::value(&"second")));
    assert_eq!(f.answers("a", "r"), [(1, HostReply::value(&"first"))]);
    let missing = f.runs.answer(&caller("a"), &run("none"), CallId(1), HostReply::done());
    let said = f.runtime.block_on(missing).unwrap_err();
    assert!(said.0.contains("not kept"), "{said}");
    assert_eq!(f.count("answers"), 1, "nothing is kept for a run that is not");
}

#[test]
fn putting_a_run_forgets_the_answers_of_calls_that_are_not_open() {
    let f = fixture();
    for (name, open, left) in [
        ("none", &[][..], &[][..]),
        ("some", &[2, 9], &[2]),
        ("all", &[0, 1, 2, u32::MAX], &[0, 1, 2, u32::MAX]),
        ("others", &[7], &[]),
    ] {
        f.add(record("a", name));
        f.add(record("b", name));
        for call in [0, 1, 2, u32::MAX] {
            f.answer("a", name, call, HostReply::value(&call));
            f.answer("b", name, call, HostReply::value(&call));
        }
        f.put(record("a", name), open);
        let found: Vec<u32> = f.answers("a", name).into_iter().map(|(call, _)| call).collect();
        assert_eq!(found, left, "{name}");
        assert_eq!(f.answers("b", name).len(), 4, "{name}");
    }
}

#[test]
fn a_suspended_run_is_found_by_its_continuation() {
    let f = fixture();
    let suspended = |name: &str, created: u64, continuation: &str| RunRecord {
        state: RunState::Suspended,
        created: at(created),
        continuation: Some(continuation.into()),
        suspended: Some(vec![1; 300_000]),
        ..record("a", name)
    };
    f.add(suspended("old", 1, "c"));
    f.add(suspended("new", 3, "c"));
    f.add(suspended("mid", 2, "c"));
    f.add(suspended("other", 9, "d"));
    f.add(RunRecord { state: RunState::Running, ..suspended("running", 9, "c") });
    f.add(RunRecord { state: RunState::Ended, ..suspended("ended", 9, "c") });
    assert_eq!(f.find("a", "c").as_deref(), Some("new"));
    let whole = f.runtime.block_on(f.runs.find(&caller("a"), "c")).unwrap();
    assert_eq!(whole, Some(suspended("new", 3, "c")), "with its state");
    f.put(RunRecord { state: RunState::Running, ..suspended("new", 3, "c") }, &[]);
    assert_eq!(f.find("a", "c").as_deref(), Some("mid"));
    for none in ["", "e", "C"] {
        assert_eq!(f.find("a", none), None, "{none}");
    }
}

#[test]
fn lists_come_in_pages_the_newest_first() {
    let f = fixture();
    for (name, created) in [("z", 1), ("b", 5), ("a", 5), ("y", 7), ("x", 3)] {
        f.add(RunRecord { created: at(created), suspended: Some(vec![1]), ..record("a", name) });
        f.add(RunRecord { created: at(created), ..record("b", name) });
    }
    assert_eq!(f.list("a", None, 10), ["y", "b", "a", "x", "z"]);
    assert_eq!(f.list("a", None, 2), ["y", "b"]);
    assert_eq!(f.list("a", Some((5, "b")), 2), ["a", "x"], "the same moment on both sides of a page");
    assert_eq!(f.list("a", Some((3, "x")), 2), ["z"]);
    assert_eq!(f.list("a", Some((1, "z")), 2), Vec::<String>::new());
    assert_eq!(f.list("a", Some((4, "gone")), 2), ["x", "z"], "one that is not there (any more) has its place too");
    assert_eq!(f.list("a", None, 0), ["y"], "a page has something");
    let adds = (0..250).map(|n| f.runs.add(RunRecord { created: at(100 + n), ..record("c", &format!("r{n}")) }));
    let adds: Vec<_> = adds.collect();
    f.runtime.block_on(async {
        for add in adds {
            add.await.unwrap();
        }
    });
    assert_eq!(f.list("c", None, u32::MAX).len(), 200, "a page has an end");
    let wide =
        |n: u32| RunRecord { outcome: json(&format!("\"{}\"", "x".repeat(90_000))), ..record("d", &n.to_string()) };
    (0..4).for_each(|n| assert!(f.add(wide(n))));
    assert_eq!(f.list("d", None, 10).len(), 4, "more than is read at once");
}

#[test]
fn unfinished_runs_of_all_callers_come_page_by_page() {
    let f = fixture();
    let mut expected = Vec::new();
    f.runtime.block_on(async {
        for n in 0..450 {
            let state = [RunState::Running, RunState::Suspended, RunState::Ended][n % 3];
            let whose = ["a", "b"][n / 3 % 2];
            let one = RunRecord { state, suspended: Some(vec![1]), ..record(whose, &format!("r{n:03}")) };
            if state != RunState::Ended {
                expected.push((one.caller.clone(), one.run.clone()));
            }
            assert!(f.runs.add(one).await.unwrap());
        }
    });
    expected.sort();
    let (mut found, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = f.runtime.block_on(f.runs.unfinished(after.clone())).unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.caller.clone(), last.run.clone()));
        assert!(page.iter().all(|record| record.suspended.is_none()));
        found.extend(page.into_iter().map(|record| (record.caller, record.run)));
        pages += 1;
    }
    assert_eq!((found, pages), (expected, 2));
}

#[test]
fn what_expired_goes_with_its_answers() {
    let f = fixture();
    f.runtime.block_on(async {
        let adds: Vec<_> = (0..300).map(|n| f.runs.add(record("a", &format!("r{n}")))).collect();
        for add in adds {
            add.await.unwrap();
        }
    });
    f.add(RunRecord { expires: at(1001), ..record("a", "stays") });
    for name in ["r0", "r299", "stays"] {
        f.answer("a", name, 1, HostReply::done());
    }
    assert_eq!(f.runtime.block_on(f.runs.expire(at(999))), Ok(0));
    assert_eq!((f.count("runs"), f.count("answers")), (301, 3));
    assert_eq!(f.runtime.block_on(f.runs.expire(at(1000))), Ok(300), "over more than two batches");
    assert_eq!((f.count("runs"), f.count("answers")), (1, 1));
    assert_eq!(f.list("a", None, 10), ["stays"]);
    assert_eq!(f.runtime.block_on(f.runs.expire(at(1000))), Ok(0));
    assert!(f.add(record("a", "r0")), "its name is free again");
    assert_eq!(f.answers("a", "r0"), [], "and nothing is left of it");
}

#[test]
fn small_reads_are_done_in_the_first_poll_and_large_ones_are_not() {
    let f = fixture();
    f.add(RunRecord { suspended: Some(vec![1; 3000]), ..record("a", "small") });
    f.add(RunRecord { suspended: Some(vec![1; 1 << 20]), ..record("a", "large") });
    f.answer("a", "small", 1, HostReply::done());
    f.answer("a", "large", 1, HostReply::Bytes { bytes: vec![1; 1 << 20] });
    // The one thread for what takes long is kept busy, so that nothing is done there meanwhile.
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (release, busy) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || busy.recv());
    let _inside = runtime.enter();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let (a, small, large) = (caller("a"), run("small"), run("large"));
    assert!(f.runs.get(&a, &small).as_mut().poll(&mut context).is_ready());
    assert!(f.runs.answers(&a, &small).as_mut().poll(&mut context).is_ready());
    assert!(f.runs.list(&a, None, None, 10).as_mut().poll(&mut context).is_ready());
    assert!(f.runs.unfinished(None).as_mut().poll(&mut context).is_ready());
    assert!(f.runs.get(&a, &large).as_mut().poll(&mut context).is_pending());
    assert!(f.runs.answers(&a, &large).as_mut().poll(&mut context).is_pending());
    drop(release);
}

#[test]
fn a_full_queue_makes_futures_wait_and_loses_nothing() {
    const WRITES: usize = 3000;
    let f = fixture();
    // Someone else is writing, so nothing is taken from the queue for good.
    let other = rusqlite::Connection::open(f.path.join("runs.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut adds: Vec<_> = (0..WRITES).map(|n| f.runs.add(record("a", &format!("r{n}")))).collect();
    for add in &mut adds {
        assert!(add.as_mut().poll(&mut context).is_pending(), "nothing is acknowledged before it is written");
    }
    // One that had no room yet is given up: it was never there.
    drop(adds.pop());
    assert_eq!(f.count("runs"), 0);
    other.execute_batch("COMMIT").unwrap();
    f.runtime.block_on(async {
        for add in adds {
            assert_eq!(add.await, Ok(true));
        }
    });
    assert_eq!(f.count("runs"), WRITES as i64 - 1);
    assert_eq!(f.get("a", &format!("r{}", WRITES - 1)), None);
}

#[test]
fn one_write_that_cannot_be_made_does_not_take_others_with_it() {
    let f = fixture();
    f.add(record("a", "r"));
    let other = rusqlite::Connection::open(f.path.join("runs.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (a, r) = (caller("a"), run("r"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut before = f.runs.answer(&a, &r, CallId(1), HostReply::done());
    let mut wrong = f.runs.answer(&a, &run("none"), CallId(1), HostReply::done());
    let mut after = f.runs.answer(&a, &r, CallId(2), HostReply::done());
    let mut again = f.runs.answer(&a, &r, CallId(1), HostReply::value(&2));
    for write in [&mut before, &mut wrong, &mut after, &mut again] {
        assert!(write.as_mut().poll(&mut context).is_pending());
    }
    other.execute_batch("COMMIT").unwrap();
    f.runtime.block_on(async {
        assert_eq!((before.await, after.await, again.await), (Ok(true), Ok(true), Ok(false)));
        assert!(wrong.await.is_err());
    });
    assert_eq!(f.answers("a", "r"), [(1, HostReply::done()), (2, HostReply::done())]);
}

#[test]
fn what_is_too_large_is_refused() {
    let f = fixture();
    let long = "x".repeat(257);
    let rows = [
        ("no caller", record("", "r")),
        ("no name", record("a", "")),
        ("long caller", record(&long, "r")),
        ("long name", record("a", &long)),
        ("continuation", RunRecord { continuation: Some("x".repeat(4097)), ..record("a", "r") }),
        ("state", RunRecord { suspended: Some(vec![0; (512 << 20) + 1]), ..record("a", "r") }),
    ];
    for (what, one) in rows {
        assert!(f.runtime.block_on(f.runs.add(one.clone())).is_err(), "{what}");
        assert!(f.runtime.block_on(f.runs.put(one, vec![])).is_err(), "{what}");
    }
    assert_eq!(f.count("runs"), 0);
}

#[test]
fn what_was_asked_for_is_written_when_the_store_is_dropped() {
    let f = fixture();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for n in 0..100 {
        assert!(f.runs.add(record("a", &format!("r{n}"))).as_mut().poll(&mut context).is_pending());
    }
    let Fixture { runs, path, _folder, .. } = f;
    drop(runs);
    let db = rusqlite::Connection::open(path.join("runs.sqlite")).unwrap();
    let count: i64 = db.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 100);
}

#[test]
fn what_is_damaged_is_an_error_and_not_a_run() {
    let f = fixture();
    f.add(record("a", "r"));
    f.answer("a", "r", 1, HostReply::value(&1));
    let db = rusqlite::Connection::open(f.path.join("runs.sqlite")).unwrap();
    let (a, r) = (caller("a"), run("r"));
    for (spoil, whole) in [
        ("UPDATE runs SET outcome = '{'", "UPDATE runs SET outcome = '1'"),
        ("UPDATE runs SET state = 'resting'", "UPDATE runs SET state = 'running'"),
    ] {
        db.execute_batch(spoil).unwrap();
        let said = f.runtime.block_on(f.runs.get(&a, &r)).unwrap_err();
        assert!(said.0.contains("damaged"), "{said}");
        db.execute_batch(whole).unwrap();
        assert!(f.get("a", "r").is_some());
    }
    for spoil in [
        "kind = 'values'",
        "kind = 'body', content = x'5b5d'",
        "kind = 'value', content = x'ff'",
        "kind = 'bytes', content = NULL",
    ] {
        db.execute_batch(&format!("UPDATE answers SET {spoil}")).unwrap();
        assert!(f.runtime.block_on(f.runs.answers(&a, &r)).is_err(), "{spoil}");
    }
}
