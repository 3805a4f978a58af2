//! Encrypted secrets over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{SecretName, SecretStore as _};
use isolith_store::{DataFolder, KeySource, Secrets, StoreError};
use std::os::unix::fs::PermissionsExt as _;
use zeroize::Zeroizing;

const VALUE: &str = "sk-live-THIS-IS-THE-SECRET";

fn name(name: &str) -> SecretName {
    SecretName::new(name).unwrap()
}

fn folder() -> (tempfile::TempDir, DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path().join("data")).unwrap();
    (folder, data)
}

fn own(data: &DataFolder) -> Secrets {
    data.secrets_with(KeySource::Own(data.path().join("key"))).unwrap()
}

fn key(text: &str) -> KeySource {
    KeySource::Text(Zeroizing::new(text.to_owned()))
}

#[test]
fn secrets_are_set_found_and_removed() {
    let (_folder, data) = folder();
    let secrets = own(&data);
    assert_eq!(secrets.get(&name("token")), Ok(None), "without a key, and without making one");
    assert!(!data.path().join("key").exists());
    secrets.set(&name("token"), "first").unwrap();
    secrets.set(&name("other"), "x").unwrap();
    secrets.set(&name("token"), VALUE).unwrap();
    assert_eq!(own(&data).get(&name("token")), Ok(Some(VALUE.into())));
    let entries = secrets.names().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["other", "token"]);
    assert!(entries[1].created <= entries[1].changed);
    assert!(!format!("{secrets:?} {entries:?}").contains("sk-live"));
    assert!(secrets.remove(&name("token")).unwrap());
    assert!(!secrets.remove(&name("token")).unwrap());
    assert_eq!(secrets.get(&name("token")), Ok(None));
}

#[test]
fn no_file_holds_a_value_and_all_are_private() {
    let (_folder, data) = folder();
    let secrets = own(&data);
    for number in 0..20 {
        secrets.set(&name(&format!("token{number}")), &format!("{VALUE}{}", "x".repeat(number * 1000))).unwrap();
    }
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(data.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()), "{}", path.display());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        seen.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    seen.sort();
    assert_eq!(seen, ["key", "secrets.sqlite", "secrets.sqlite-shm", "secrets.sqlite-wal"]);
    assert_eq!(std::fs::metadata(data.path()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_wrong_key_opens_nothing_and_seals_nothing() {
    let (_folder, data) = folder();
    let (right, wrong) = ("11".repeat(32), "22".repeat(32));
    data.secrets_with(key(&right)).unwrap().set(&name("a"), VALUE).unwrap();
    let other = data.secrets_with(key(&wrong)).unwrap();
    assert!(matches!(other.value(&name("a")), Err(StoreError::WrongKey { .. })));
    assert!(matches!(other.set(&name("b"), "y"), Err(StoreError::WrongKey { .. })));
    let message = other.get(&name("a")).unwrap_err();
    assert!(message.contains("secrets.sqlite") && message.contains("ISOLITH_KEY") && !message.contains(&wrong));
    assert_eq!(data.secrets_with(key(&right)).unwrap().get(&name("a")), Ok(Some(VALUE.into())));
    for bad in ["", "password", "22"] {
        let secrets = data.secrets_with(key(bad)).unwrap();
        assert!(matches!(secrets.value(&name("a")), Err(StoreError::Key(_))), "{bad:?}");
    }
}

#[test]
fn altered_rows_are_noticed() {
    let (_folder, data) = folder();
    let secrets = own(&data);
    for change in [
        "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'b'),
            nonce = (SELECT nonce FROM secrets WHERE name = 'b') WHERE name = 'a'",
        "UPDATE secrets SET sealed = substr(sealed, 1, 5) WHERE name = 'a'",
        "UPDATE secrets SET nonce = x'00' WHERE name = 'a'",
        "UPDATE secrets SET sealed = x'' WHERE name = 'a'",
    ] {
        secrets.set(&name("a"), "for a").unwrap();
        secrets.set(&name("b"), "for b").unwrap();
        rusqlite::Connection::open(data.path().join("secrets.sqlite")).unwrap().execute(change, []).unwrap();
        assert!(matches!(secrets.value(&name("a")), Err(StoreError::WrongKey { .. })), "{change}");
    }
}

#[test]
fn keys_come_from_files() {
    let (folder, data) = folder();
    let path = folder.path().join("given");
    std::fs::write(&path, format!("{}\n", "ab".repeat(32))).unwrap();
    let given = || data.secrets_with(KeySource::File(path.clone())).unwrap();
    given().set(&name("a"), VALUE).unwrap();
    assert_eq!(given().get(&name("a")), Ok(Some(VALUE.into())));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(given().set(&name("b"), "x"), Err(StoreError::Key(_))), "a given key is never made");
    assert!(!path.exists());
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let (_folder, data) = folder();
    own(&data).set(&name("a"), VALUE).unwrap();
    let path = data.path().join("key");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = own(&data).get(&name("a")).unwrap_err();
    assert!(error.contains("chmod 600"), "{error}");
}

#[test]
fn sizes_are_bounded() {
    let (_folder, data) = folder();
    let secrets = own(&data);
    assert!(secrets.set(&name("a"), "").is_err());
    assert!(secrets.set(&name("a"), &"x".repeat((64 << 10) + 1)).is_err());
    secrets.set(&name("a"), &"x".repeat(64 << 10)).unwrap();
}
