//! The audit log over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{AuditLog as _, AuditRow, CallOutcome, RunId, Timestamp};
use isolith_store::{Audit, AuditQuery, DataFolder, Retention};
use std::time::Duration;

fn row(number: u64) -> AuditRow {
    let denied = number % 2 == 1;
    AuditRow {
        at: Timestamp::from_micros(number + 1_000_000 * 60 * 60 * 24 * 365 * 100),
        run: RunId(format!("run-{}", number % 3)),
        program: format!("digest-{}", number % 2),
        grant: "egress:https://a.example".into(),
        what: format!("GET https://a.example/{number}"),
        host: number.is_multiple_of(2).then(|| "a.example".into()),
        outcome: if denied { CallOutcome::Denied } else { CallOutcome::Ok },
        error: denied.then(|| "not granted".into()),
        duration_us: number,
        bytes_out: 1,
        bytes_in: 2,
    }
}

fn log() -> (tempfile::TempDir, Audit) {
    let folder = tempfile::tempdir().unwrap();
    let audit = DataFolder::open(folder.path()).unwrap().audit().unwrap();
    (folder, audit)
}

#[test]
fn rows_come_back_whole_and_by_what_is_asked() {
    let (_folder, audit) = log();
    let all: Vec<AuditRow> = (0..12).map(row).collect();
    all.iter().for_each(|row| audit.record(row.clone()));
    audit.flush_blocking().unwrap();
    let any = AuditQuery::default();
    let rows: [(AuditQuery, Vec<usize>); 8] = [
        (any.clone(), (0..12).collect()),
        (AuditQuery { limit: 2, ..any.clone() }, vec![10, 11]),
        (AuditQuery { limit: 0, ..any.clone() }, vec![]),
        (AuditQuery { run: Some(RunId("run-1".into())), ..any.clone() }, vec![1, 4, 7, 10]),
        (AuditQuery { denied: true, limit: 3, ..any.clone() }, vec![7, 9, 11]),
        (AuditQuery { host: Some("A.example".into()), since: Some(all[6].at), ..any.clone() }, vec![6, 8, 10]),
        (AuditQuery { program: Some("digest-1".into()), run: Some(RunId("run-0".into())), ..any.clone() }, vec![3, 9]),
        (AuditQuery { host: Some("' OR 1 --".into()), ..any }, vec![]),
    ];
    for (query, expected) in rows {
        let expected: Vec<AuditRow> = expected.into_iter().map(|n| all[n].clone()).collect();
        assert_eq!(audit.query(&query).unwrap(), expected, "{query:?}");
    }
}

#[test]
fn rows_that_were_not_flushed_are_written_when_the_log_is_dropped() {
    let (folder, audit) = log();
    // More than the queue holds: recording waits, and loses none.
    (0..10_000).map(row).for_each(|row| audit.record(row));
    drop(audit);
    let audit = DataFolder::open(folder.path()).unwrap().audit().unwrap();
    let found = audit.query(&AuditQuery { limit: u32::MAX, ..AuditQuery::default() }).unwrap();
    assert_eq!(found.len(), 10_000);
    audit.flush_blocking().unwrap();
}

#[test]
fn lines_hold_one_row_each() {
    let (folder, audit) = log();
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, "{}\n").unwrap();
    let audit = audit.with_lines(&path).unwrap();
    let hostile = AuditRow { what: "GET /\n{\"forged\":true}\u{1b}[2J".into(), ..row(1) };
    audit.record(row(0));
    audit.record(hostile.clone());
    audit.flush_blocking().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "{}"));
    assert_eq!(serde_json::from_str::<AuditRow>(lines[2]).unwrap(), hostile);
    assert!(!text.contains('\u{1b}'));
}

#[cfg(target_os = "linux")]
#[test]
fn lines_that_cannot_be_written_are_not_passed_over() {
    let (_folder, audit) = log();
    let audit = audit.with_lines("/dev/full").unwrap();
    audit.record(row(0));
    for _ in 0..2 {
        assert!(audit.flush_blocking().unwrap_err().contains("missing in its file of lines"));
    }
    assert_eq!(audit.query(&AuditQuery::default()).unwrap().len(), 1, "the database has them");
}

#[test]
fn long_texts_are_cut() {
    let (_folder, audit) = log();
    audit.record(AuditRow { what: "ü".repeat(100_000), ..row(0) });
    audit.flush_blocking().unwrap();
    let found = audit.query(&AuditQuery::default()).unwrap();
    assert!(found[0].what.len() < 5000 && found[0].what.ends_with("ü…"));
}

#[test]
fn old_rows_go_first_and_a_far_date_takes_no_others_with_it() {
    let (_folder, audit) = log();
    let audit = audit.with_retention(Retention { rows: 700, age: Duration::from_secs(3600) });
    (0..3000).map(row).for_each(|row| audit.record(row));
    audit.record(AuditRow { at: Timestamp::from_micros(1), ..row(3000) });
    audit.record(AuditRow { at: Timestamp::from_micros(u64::MAX), ..row(3001) });
    for number in 3002..6000 {
        audit.record(row(number));
        if number % 100 == 0 {
            audit.flush_blocking().unwrap();
        }
    }
    audit.flush_blocking().unwrap();
    let found = audit.query(&AuditQuery { limit: u32::MAX, ..AuditQuery::default() }).unwrap();
    assert_eq!(found.last().unwrap().duration_us, 5999);
    assert!((700..700 + 1024 + 512).contains(&found.len()), "{}", found.len());
    let numbers: Vec<u64> = found.iter().map(|row| row.duration_us).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "no gaps");
}

#[test]
fn rows_too_old_by_the_clock_go() {
    let (_folder, audit) = log();
    let audit = audit.with_retention(Retention { rows: 1 << 20, age: Duration::from_secs(3600) });
    (0..600).for_each(|number| audit.record(AuditRow { at: Timestamp::from_micros(number), ..row(number) }));
    audit.flush_blocking().unwrap();
    audit.record(row(600));
    audit.flush_blocking().unwrap();
    (601..1300).for_each(|number| audit.record(row(number)));
    audit.flush_blocking().unwrap();
    let found = audit.query(&AuditQuery { limit: u32::MAX, ..AuditQuery::default() }).unwrap();
    assert!(found.iter().all(|row| row.duration_us >= 600), "{:?}", found.first());
}
