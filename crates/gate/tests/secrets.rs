//! Secrets from everywhere.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{Grant, Power, Rule, SecretGrant, SecretName, SecretSource, SecretStore};
use isolith_gate::{Secret, Vault};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn name(name: &str) -> SecretName {
    SecretName::new(name).unwrap()
}

fn grant(secret: &str, from: Option<&str>) -> Grant {
    let from = from.map(|from| SecretSource::try_from(from.to_owned()).unwrap());
    Grant::allow(Power::Secret(SecretGrant { name: name(secret), from, reveal: false }))
}

/// The value, or a code and a message.
async fn value(from: Option<&str>, store: Option<Arc<dyn SecretStore>>) -> Result<String, String> {
    let vault = Vault::new(&[grant("token", from)], store);
    match vault.get(&name("token")).await {
        Ok(secret) => Ok(secret.expose().to_owned()),
        Err(error) => Err(format!("{}: {}", error.code.unwrap(), error.message)),
    }
}

fn missing(why: &str) -> Result<String, String> {
    Err(format!("secret.missing: the secret `token` has no value: {why}"))
}

#[derive(Default)]
struct Store(AtomicUsize);

impl SecretStore for Store {
    fn get(&self, name: &SecretName) -> Result<Option<String>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match name.as_str() {
            "token" => Ok(Some("from the store".into())),
            "broken" => Err("another key".into()),
            _ => Ok(None),
        }
    }
}

#[tokio::test]
async fn secrets_come_from_the_environment_and_the_store() {
    assert!(value(Some("env:PATH"), None).await.is_ok());
    assert_eq!(value(Some("env:ISOLITH_NOT_SET"), None).await, missing("`env:ISOLITH_NOT_SET` is not set"));
    let store = || Some(Arc::new(Store::default()) as Arc<dyn SecretStore>);
    assert_eq!(value(None, store()).await, Ok("from the store".into()));
    assert_eq!(value(Some("store:token"), store()).await, Ok("from the store".into()));
    assert_eq!(value(None, None).await, missing("`store:token` needs a store of secrets, and there is none"));
    assert_eq!(value(Some("store:broken"), store()).await, missing("`store:broken` cannot be read: another key"));
    let absent = "`store:none` is not in the store: add it with `isolith secret set`";
    assert_eq!(value(Some("store:none"), store()).await, missing(absent));
}

#[tokio::test]
async fn secrets_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let from = format!("file:{}", path.display());
    let most = "x".repeat(64 << 10);
    for (content, expected) in [
        ("abc", Ok("abc".to_owned())),
        ("abc\n", Ok("abc".into())),
        ("abc\r\n", Ok("abc".into())),
        ("a\nb\n\n", Ok("a\nb\n".into())),
        ("", missing(&format!("`{from}` is empty"))),
        ("\n", missing(&format!("`{from}` is empty"))),
        (&format!("{most}\n"), Ok(most.clone())),
        (&format!("{most}x"), missing(&format!("`{from}` has more than 64 KiB"))),
        (&format!("{most}{most}"), missing(&format!("`{from}` has more than 64 KiB"))),
    ] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(value(Some(&from), None).await, expected);
    }
    std::fs::write(&path, b"SECRET\xff").unwrap();
    assert_eq!(value(Some(&from), None).await, missing(&format!("`{from}` is not UTF-8")));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(value(Some(&from), None).await, missing(&format!("`{from}` cannot be read: entity not found")));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(value(Some(&from), None).await, missing(&format!("`{from}` is not a regular file")));
}

#[tokio::test]
async fn secrets_come_from_commands() {
    for (line, expected) in [
        ("echo abc", Ok("abc".to_owned())),
        ("printf 'a b'; cat", Ok("a b".into())),
        ("echo SECRET; echo SECRET >&2; exit 3", missing("its command failed with exit code 3")),
        ("true", missing("its command is empty")),
        ("yes SECRET", missing("its command has more than 64 KiB")),
        ("printf 'SECRET\\377'", missing("its command is not UTF-8")),
        ("kill -9 $$", missing("its command was ended by a signal")),
    ] {
        assert_eq!(value(Some(&format!("command:{line}")), None).await, expected, "{line}");
    }
}

#[tokio::test]
async fn a_command_has_a_time_limit() {
    assert_eq!(
        value(Some("command:sleep 1000 & sleep 1000"), None).await,
        missing("its command took longer than 10 s")
    );
}

#[tokio::test]
async fn only_granted_names_are_there_and_denial_wins() {
    let denied = Grant { rule: Rule::Deny, ..grant("b", Some("env:PATH")) };
    let asked = Grant { rule: Rule::Ask, ..grant("c", Some("env:PATH")) };
    let vault = Vault::new(&[grant("a", Some("env:PATH")), grant("b", Some("env:PATH")), denied, asked], None);
    assert!(vault.get(&name("a")).await.is_ok());
    assert!(vault.get(&name("c")).await.is_ok());
    for absent in ["b", "PATH", "d"] {
        let error = vault.get(&name(absent)).await.unwrap_err();
        assert_eq!(error.code.as_deref(), Some("secret.denied"), "{absent}");
        assert!(error.is_refusal());
    }
}

#[tokio::test]
async fn a_secret_is_read_once() {
    let store = Arc::new(Store::default());
    let vault = Vault::new(&[grant("token", None), grant("none", None)], Some(store.clone()));
    let token = name("token");
    let (one, two) = tokio::join!(vault.get(&token), vault.get(&token));
    assert_eq!(one.unwrap().expose(), two.unwrap().expose());
    vault.get(&token).await.unwrap();
    assert_eq!(store.0.load(Ordering::SeqCst), 1);
    assert!(vault.get(&name("none")).await.is_err());
    assert!(vault.get(&name("none")).await.is_err());
    assert_eq!(store.0.load(Ordering::SeqCst), 3, "what failed is tried again");
}

#[tokio::test]
async fn values_are_not_printed() {
    let secret = Secret::new("SECRET".into());
    let vault = Vault::new(&[grant("token", Some("command:echo SECRET"))], None);
    vault.get(&name("token")).await.unwrap();
    let shown = format!("{secret} {secret:?} {:?} {vault:?}", Some(&secret));
    assert_eq!(shown, "*** *** Some(***) {SecretName(\"token\")}");
}
