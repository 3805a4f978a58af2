//! Keys to a server over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{ApiKeys as _, CallerId, Json, Scope, key};
use isolith_store::{DataFolder, Keys, NewKey};

fn folder() -> (tempfile::TempDir, DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path().join("data")).unwrap();
    (folder, data)
}

fn new(name: &str) -> NewKey {
    NewKey { name: name.into(), scopes: vec![Scope::Runs], policy: None, rate: None }
}

/// Whether this text opens the door.
fn opens(keys: &Keys, text: &str) -> bool {
    let (caller, secret) = key::parse(text).unwrap();
    key::matches(keys.find(&caller).unwrap().as_ref(), &secret)
}

#[test]
fn a_key_is_found_as_it_was_made() {
    let (_folder, data) = folder();
    let keys = data.keys().unwrap();
    assert_eq!((keys.any(), keys.list().unwrap()), (Ok(false), vec![]));
    let policy = Json::from_text(r#"{"grants": ["kv:cache"], "x": "\ud800"}"#.into()).unwrap();
    let scopes = vec![Scope::Metrics, Scope::Runs, Scope::Metrics];
    let (made, text) =
        keys.create(NewKey { scopes, policy: Some(policy), rate: Some(u32::MAX), ..new("agents") }).unwrap();
    assert_eq!(made.scopes, [Scope::Runs, Scope::Metrics]);
    let (caller, secret) = key::parse(&text).unwrap();
    assert_eq!((&caller, made.hash), (&made.caller, secret.hash()));
    for keys in [&keys, &data.keys().unwrap()] {
        assert_eq!(keys.find(&caller).unwrap().as_ref(), Some(&made));
        assert_eq!((keys.any(), keys.list().unwrap()), (Ok(true), vec![made.clone()]));
        assert!(opens(keys, &text));
    }
    for other in ["", "local", "agents", &caller.0.to_uppercase()] {
        assert_eq!(keys.find(&CallerId(other.into())), Ok(None), "{other}");
    }
    let (all, _) = keys.create(NewKey { scopes: Scope::ALL.to_vec(), ..new("all") }).unwrap();
    assert_eq!(keys.find(&all.caller).unwrap().unwrap().scopes, Scope::ALL);
    assert_eq!(keys.list().unwrap().iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["agents", "all"]);
}

#[test]
fn no_file_holds_the_secret() {
    let (_folder, data) = folder();
    let (_, text) = data.keys().unwrap().create(new("agents")).unwrap();
    let secret = &text[text.len() - 64..];
    let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap()).collect();
    for entry in std::fs::read_dir(data.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
        assert!(!holds(secret.as_bytes()) && !holds(&raw), "{}", path.display());
    }
}

#[test]
fn a_key_that_others_revoke_is_worth_nothing_from_the_next_question_on() {
    let (_folder, data) = folder();
    let (server, elsewhere) = (data.keys().unwrap(), data.keys().unwrap());
    assert_eq!(server.any(), Ok(false));
    for by_name in [true, false] {
        let (made, text) = elsewhere.create(new("agents")).unwrap();
        assert!(opens(&server, &text) && server.any() == Ok(true), "a new key is known at once");
        let revoked = elsewhere.revoke(if by_name { "agents" } else { &made.caller.0 }).unwrap().unwrap();
        assert!(revoked.revoked.is_some_and(|at| at >= made.created));
        assert!(!opens(&server, &text) && server.any() == Ok(false));
        assert_eq!(server.find(&made.caller).unwrap(), Some(revoked), "it is still known, as revoked");
        // The same for the one that revoked it.
        assert!(!opens(&elsewhere, &text) && elsewhere.any() == Ok(false));
        for again in ["agents", &made.caller.0, "other", "", "%"] {
            assert_eq!(server.revoke(again).unwrap(), None, "{again}");
        }
    }
    assert_eq!(server.list().unwrap().len(), 2, "a name can be used again");
}

#[test]
fn revoking_one_key_leaves_the_others() {
    let (_folder, data) = folder();
    let keys = data.keys().unwrap();
    let (_, first) = keys.create(new("first")).unwrap();
    let (_, second) = keys.create(new("second")).unwrap();
    keys.revoke("first").unwrap().unwrap();
    assert!(!opens(&keys, &first) && opens(&keys, &second) && keys.any() == Ok(true));
    // The id of one with the secret of another is no key.
    let mixed = format!("{}{}", &second[..37], &first[37..]);
    assert!(!opens(&keys, &mixed));
}

#[test]
fn what_cannot_be_a_key_is_refused() {
    let (_folder, data) = folder();
    let keys = data.keys().unwrap();
    keys.create(new("taken")).unwrap();
    let large = Json::from_text(format!("\"{}\"", "x".repeat(1 << 20))).unwrap();
    let rows = [
        (new(""), "1 to 64"),
        (new("a b"), "1 to 64"),
        (new("a\u{1b}[31m"), "1 to 64"),
        (new("ü"), "1 to 64"),
        (new(&"x".repeat(65)), "1 to 64"),
        (new(&"0f".repeat(16)), "like the id"),
        (new("isk_agents"), "the text of one"),
        (new("taken"), "already"),
        (NewKey { scopes: vec![], ..new("none") }, "scope"),
        (NewKey { policy: Some(large), ..new("large") }, "policy"),
    ];
    for (one, says) in rows {
        let said = keys.create(one.clone()).unwrap_err().to_string();
        assert!(said.contains(says), "{one:?}: {said}");
    }
    assert_eq!(keys.list().unwrap().len(), 1);
    keys.create(new(&"x".repeat(64))).unwrap();
}

#[test]
fn a_policy_that_cannot_be_read_lets_nobody_in() {
    let (_folder, data) = folder();
    let keys = data.keys().unwrap();
    let policy = Some(Json::from_text("{}".into()).unwrap());
    let (made, _) = keys.create(NewKey { policy, ..new("agents") }).unwrap();
    let db = rusqlite::Connection::open(data.path().join("keys.sqlite")).unwrap();
    for (spoil, whole) in [("policy = '{'", "policy = '{}'"), ("hash = x'00'", "policy = '{}'")] {
        db.execute_batch(&format!("UPDATE keys SET {spoil}")).unwrap();
        assert!(keys.find(&made.caller).is_err() && keys.any().is_err() && keys.list().is_err(), "{spoil}");
        assert!(keys.find(&made.caller).is_err(), "and it stays so");
        db.execute_batch(&format!("UPDATE keys SET {whole}")).unwrap();
    }
    db.execute_batch("DELETE FROM keys").unwrap();
    assert_eq!((keys.find(&made.caller), keys.any()), (Ok(None), Ok(false)));
}
