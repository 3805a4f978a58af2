//! The data folder, damaged files, and consent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{BindingName, HostReply, Json, KvOp, Timestamp};
use isolith_store::{DataFolder, StoreError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const FILES: [&str; 4] = ["kv.sqlite", "audit.sqlite", "secrets.sqlite", "consent.sqlite"];

fn open(data: &DataFolder, file: &str) -> Result<(), StoreError> {
    match file {
        "kv.sqlite" => data.kv().map(drop),
        "audit.sqlite" => data.audit().map(drop),
        "secrets.sqlite" => data.secrets().map(drop),
        _ => data.consent().map(drop),
    }
}

#[test]
fn stores_are_made_when_asked_for_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path().join("a/b")).unwrap();
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    for file in FILES {
        open(&data, file).unwrap();
        let mode = std::fs::metadata(data.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
        open(&data, file).unwrap();
    }
    assert!(data.check().iter().all(|(_, sound)| sound.is_ok()) && data.check().len() == 4);
}

#[test]
fn files_that_are_no_databases_of_ours_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let foreign = |path: &Path| {
        rusqlite::Connection::open(path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    };
    let newer = |path: &Path| {
        let db = rusqlite::Connection::open(path).unwrap();
        db.execute_batch("PRAGMA application_id = 0x49534f4c; PRAGMA user_version = 99; CREATE TABLE t (x)").unwrap();
    };
    let garbage = |path: &Path| std::fs::write(path, "this is not a database, it is a letter.\n".repeat(200)).unwrap();
    let is_folder = |path: &Path| std::fs::create_dir(path).unwrap();
    type Spoil<'a> = &'a dyn Fn(&Path);
    let rows: [(&str, Spoil<'_>, &str); 4] = [
        ("garbage", &garbage, "damaged or not a database"),
        ("foreign", &foreign, "another program"),
        ("newer", &newer, "newer isolith"),
        ("folder", &is_folder, "cannot"),
    ];
    for file in FILES {
        for (what, spoil, says) in rows {
            let path = data.path().join(file);
            spoil(&path);
            let error = open(&data, file).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains(file), "{what}: {error}");
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
            for other in ["-wal", "-shm"] {
                let _ = std::fs::remove_file(data.path().join(format!("{file}{other}")));
            }
            open(&data, file).unwrap();
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn damage_within_a_database_is_an_error_and_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let space = BindingName::new("notes").unwrap();
    let put = |number: u32| KvOp::Put {
        key: format!("key{number}"),
        value: Json::of(&"x".repeat(900)).unwrap(),
        ttl_ms: None,
        metadata: None,
        expect: None,
    };
    {
        let kv = data.kv().unwrap();
        for number in 0..60 {
            kv.perform_now(&space, 1 << 20, &put(number), Timestamp::default());
        }
    }
    let path = data.path().join("kv.sqlite");
    let sound = std::fs::read(&path).unwrap();
    assert!(sound.len() > 40_000, "the log was worked off when the store was closed");
    for page in 1..sound.len() / 4096 {
        let mut bytes = sound.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        std::fs::write(&path, &bytes).unwrap();
        let _ = std::fs::remove_file(data.path().join("kv.sqlite-wal"));
        let _ = std::fs::remove_file(data.path().join("kv.sqlite-shm"));
        let mut failed = matches!(data.check()[0].1, Err(StoreError::Damaged(_)));
        if let Ok(kv) = data.kv() {
            for number in 0..60 {
                let get = KvOp::Get { keys: vec![format!("key{number}")] };
                for op in [get, put(number)] {
                    if let HostReply::Failed { error } = kv.perform_now(&space, 1 << 20, &op, Timestamp::default()) {
                        assert_eq!(error.code.as_deref(), Some("kv.io"));
                        assert!(error.message.contains("damaged") && !error.message.contains("sqlite"), "{error:?}");
                        failed = true;
                    }
                }
            }
        } else {
            failed = true;
        }
        assert!(failed, "page {page}");
    }
}

#[test]
fn a_folder_that_everyone_can_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(DataFolder::open(folder.path()), Err(StoreError::Open(_))));
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = DataFolder::open(folder.path().join("file")).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
fn answers_hold_for_one_program_and_one_grant() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let consent = data.consent().unwrap();
    let (grant, other) = ("egress:https://a.example", "egress:https://b.example");
    assert_eq!(consent.allowed("p1", grant), None);
    consent.remember("p1", grant, true).unwrap();
    consent.remember("p1", other, false).unwrap();
    consent.remember("p2", grant, false).unwrap();
    let found = |program, grant| data.consent().unwrap().allowed(program, grant);
    assert_eq!((found("p1", grant), found("p1", other)), (Some(true), Some(false)));
    assert_eq!((found("p2", grant), found("p2", other)), (Some(false), None));
    consent.remember("p1", grant, false).unwrap();
    assert_eq!(consent.allowed("p1", grant), Some(false));
    assert_eq!(consent.list().unwrap().len(), 3);
    assert_eq!(consent.forget("p1").unwrap(), 2);
    let left: Vec<_> = consent.list().unwrap().into_iter().map(|a| (a.program, a.grant, a.allow)).collect();
    assert_eq!(left, [("p2".into(), grant.into(), false)]);
}
