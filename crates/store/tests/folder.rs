//! The data folder, damaged files, and consent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    AuditLog as _, AuditRow, BindingName, CallOutcome, CallerId, HostReply, Json, KvOp, RunId, SecretName, Timestamp,
};
use isolith_store::{AuditQuery, DataFolder, KeySource, StoreError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const FILES: [&str; 7] =
    ["kv.sqlite", "audit.sqlite", "secrets.sqlite", "consent.sqlite", "snippets.sqlite", "runs.sqlite", "keys.sqlite"];

fn open(data: &DataFolder, file: &str) -> Result<(), StoreError> {
    match file {
        "kv.sqlite" => data.kv().map(drop),
        "audit.sqlite" => data.audit().map(drop),
        "secrets.sqlite" => data.secrets().map(drop),
        "snippets.sqlite" => data.snippets().map(drop),
        "runs.sqlite" => data.runs().map(drop),
        "keys.sqlite" => data.keys().map(drop),
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
    assert!(data.check().iter().all(|(_, sound)| sound.is_ok()) && data.check().len() == FILES.len());
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

#[test]
fn a_caller_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = DataFolder::open(folder.path().join("data")).unwrap();
    let of = |caller: &str| root.caller(&CallerId(caller.into())).unwrap();
    let folders = [root.clone(), of("a1"), of("b2")];
    assert_eq!(of("a1").path(), root.path().join("callers/a1"));
    let space = BindingName::new("notes").unwrap();
    let name = SecretName::new("token").unwrap();
    let secrets = |data: &DataFolder| data.secrets_with(KeySource::Own(root.path().join("key"))).unwrap();
    for (number, data) in folders.iter().enumerate() {
        let value = Json::of(&number).unwrap();
        let put = KvOp::Put { key: "k".into(), value, ttl_ms: None, metadata: None, expect: None };
        data.kv().unwrap().perform_now(&space, 1 << 20, &put, Timestamp::default());
        secrets(data).set(&name, &format!("value {number}")).unwrap();
        let row = AuditRow {
            at: Timestamp::from_micros(u64::MAX >> 2),
            run: RunId(format!("run {number}")),
            program: "p".into(),
            grant: "kv:notes".into(),
            what: "w".into(),
            host: None,
            outcome: CallOutcome::Ok,
            error: None,
            duration_us: 1,
            bytes_out: 0,
            bytes_in: 0,
        };
        data.audit().unwrap().record(row);
    }
    for (number, data) in folders.iter().enumerate() {
        let get = KvOp::Get { keys: vec!["k".into()] };
        let HostReply::Value { json: Some(json) } =
            data.kv().unwrap().perform_now(&space, 1 << 20, &get, Timestamp::default())
        else {
            panic!()
        };
        assert_eq!(json.parse::<serde_json::Value>().unwrap()[0]["value"], number);
        assert_eq!(secrets(data).value(&name).unwrap().unwrap().as_str(), format!("value {number}"));
        let rows = data.audit().unwrap().query(&AuditQuery::default()).unwrap();
        assert_eq!(rows.iter().map(|row| row.run.0.clone()).collect::<Vec<_>>(), [format!("run {number}")]);
        // A caller's own caller is the server's, and its local user is the server's.
        assert_eq!(data.caller(&CallerId::local()).unwrap().path(), root.path());
        assert_eq!(data.caller(&CallerId("b2".into())).unwrap().path(), root.path().join("callers/b2"));
        data.runs().unwrap();
        data.keys().unwrap();
        let mode = std::fs::metadata(data.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let keys: Vec<_> = ["", "callers/a1/", "callers/b2/"].map(|at| root.path().join(at).join("key")).into();
    assert_eq!(keys.iter().map(|key| key.exists()).collect::<Vec<_>>(), [true, false, false], "one key for all");
    for file in ["runs.sqlite", "keys.sqlite"] {
        assert!(root.path().join(file).exists() && !of("a1").path().join(file).exists(), "{file} is the server's");
    }
    let checked = root.check();
    assert_eq!(checked.len(), 3 + 3 + 3 + 2);
    assert!(checked.iter().all(|(_, sound)| sound.is_ok()));
    std::fs::write(of("b2").path().join("kv.sqlite"), "x".repeat(5000)).unwrap();
    let damaged = root.check().into_iter().filter(|(_, sound)| sound.is_err()).map(|(path, _)| path);
    assert_eq!(damaged.collect::<Vec<_>>(), [of("b2").path().join("kv.sqlite")]);
}

#[test]
fn a_secret_of_one_caller_is_of_no_use_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let root = DataFolder::open(folder.path().join("data")).unwrap();
    let folders =
        [root.clone(), root.caller(&CallerId("a1".into())).unwrap(), root.caller(&CallerId("b2".into())).unwrap()];
    let secrets = |data: &DataFolder| data.secrets_with(KeySource::Own(root.path().join("key"))).unwrap();
    let name = SecretName::new("token").unwrap();
    for data in &folders {
        secrets(data).set(&name, "value").unwrap();
    }
    for from in &folders {
        for to in &folders {
            let sound = std::fs::read(to.path().join("secrets.sqlite")).unwrap();
            std::fs::copy(from.path().join("secrets.sqlite"), to.path().join("secrets.sqlite")).unwrap();
            let opened = secrets(to).value(&name);
            assert_eq!(
                opened.is_ok(),
                from.path() == to.path(),
                "{} to {}",
                from.path().display(),
                to.path().display()
            );
            std::fs::write(to.path().join("secrets.sqlite"), sound).unwrap();
        }
    }
}

#[test]
fn no_name_of_a_caller_leads_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let root = DataFolder::open(folder.path().join("data")).unwrap();
    let long = "a".repeat(65);
    for bad in
        ["", ".", "..", "../x", "a/b", "/etc", "a\\b", "A", "a b", "a.b", "a-b", "a_b", "a\0", "ü", "Local", &long]
    {
        let refused = root.caller(&CallerId(bad.into()));
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "{bad:?}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "nothing was made");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    for good in ["0", "a", &long[1..], "0123456789abcdef0123456789abcdef"] {
        assert_eq!(root.caller(&CallerId(good.into())).unwrap().path(), root.path().join("callers").join(good));
    }
    std::fs::set_permissions(root.path().join("callers"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(root.caller(&CallerId("a".into())), Err(StoreError::Open(_))), "others could put one in place");
}
