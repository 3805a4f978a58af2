//! Programs that are kept by name, over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{BindingName, Change, Json, Manifest};
use isolith_store::{DataFolder, NewSnippet, SavedSnippet, Snippets, StoreError};
use serde_json::json;

fn folder() -> (tempfile::TempDir, DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path().join("data")).unwrap();
    (folder, data)
}

fn name(text: &str) -> BindingName {
    BindingName::new(text).unwrap()
}

fn may(grants: &[&str]) -> Manifest {
    Manifest::from_value(&json!({ "grants": grants })).unwrap()
}

fn new(source: &str, grants: &[&str]) -> NewSnippet {
    NewSnippet {
        name: name("total"),
        description: "adds up".into(),
        source: source.into(),
        manifest: may(grants),
        input: None,
        output: None,
    }
}

/// What became of it, in short: its version, whether it is new, whether it is agreed to, what grew.
fn save(store: &Snippets, new: &NewSnippet) -> (u32, bool, bool, Vec<String>) {
    let SavedSnippet { snippet, new, grown } = store.save(new, false).unwrap();
    let grown = grown.into_iter().map(|Change { what, .. }| what).collect();
    (snippet.entry.version, new, snippet.entry.agreed, grown)
}

#[test]
fn a_program_is_found_as_it_was_saved() {
    let (_folder, data) = folder();
    let store = data.snippets().unwrap();
    let schema = |text: &str| Some(Json::from_text(text.into()).unwrap());
    let input = schema(r#"{"type":"object"}"#);
    let first =
        NewSnippet { input, output: schema("true"), ..new("return 1", &["kv:notes", "ask egress:example.com"]) };
    let saved = store.save(&first, false).unwrap();
    assert!(saved.new && saved.grown.is_empty() && saved.snippet.entry.agreed);
    assert_eq!(saved.snippet.manifest, first.manifest);
    for store in [&store, &data.snippets().unwrap()] {
        assert_eq!(store.find(&name("total"), None).unwrap().as_ref(), Some(&saved.snippet));
        assert_eq!(store.find(&name("total"), Some(1)).unwrap().as_ref(), Some(&saved.snippet));
        assert_eq!(store.list().unwrap(), std::slice::from_ref(&saved.snippet.entry));
    }
    assert_eq!(store.find(&name("total"), Some(2)).unwrap(), None);
    assert_eq!(store.find(&name("Total"), None).unwrap(), None);
    // The same again is nothing new; another description is.
    assert_eq!(save(&store, &first), (1, false, true, vec![]));
    assert_eq!(save(&store, &NewSnippet { description: "adds".into(), ..first }), (2, true, true, vec![]));
    assert_eq!(store.remove(&name("total")).unwrap(), 2);
    assert_eq!((store.remove(&name("total")).unwrap(), store.list().unwrap()), (0, vec![]));
}

#[test]
fn what_may_do_more_is_not_agreed_to() {
    let (_folder, data) = folder();
    let store = data.snippets().unwrap();
    assert_eq!(save(&store, &new("1", &["kv:notes"])), (1, true, true, vec![]));
    assert_eq!(save(&store, &new("2", &["kv:read notes"])), (2, true, true, vec![]));
    let grown = vec!["granted: `egress:https://example.com`".to_owned()];
    assert_eq!(save(&store, &new("3", &["kv:read notes", "egress:example.com"])), (3, true, false, grown.clone()));
    // The next with the same needs is held against what was agreed to, not against the one before.
    assert_eq!(save(&store, &new("4", &["kv:read notes", "egress:example.com"])), (4, true, false, grown.clone()));
    assert_eq!(save(&store, &new("4", &["kv:read notes", "egress:example.com"])), (4, false, false, grown.clone()));
    let still: Vec<String> = store.grown(&name("total")).unwrap().into_iter().map(|change| change.what).collect();
    assert_eq!(still, grown);
    // Only what is the last can be agreed to.
    assert!(!store.agree(&name("total"), 3).unwrap() && !store.agree(&name("other"), 1).unwrap());
    assert!(!store.find(&name("total"), None).unwrap().unwrap().entry.agreed);
    assert!(store.agree(&name("total"), 4).unwrap());
    assert_eq!(store.grown(&name("total")).unwrap(), vec![]);
    assert_eq!(save(&store, &new("5", &["egress:example.com"])), (5, true, true, vec![]));
    // Whoever saves it can say so at once.
    let saved = store.save(&new("6", &["kv:notes"]), true).unwrap();
    assert!(saved.snippet.entry.agreed && !saved.grown.is_empty());
}

#[test]
fn old_versions_go_but_never_the_one_that_was_agreed_to() {
    let (_folder, data) = folder();
    let store = data.snippets().unwrap();
    save(&store, &new("0", &[]));
    for at in 1..60 {
        assert!(!save(&store, &new(&at.to_string(), &["kv:notes"])).2, "{at}");
    }
    let versions: Vec<u32> = store.versions(&name("total")).unwrap().iter().map(|entry| entry.version).collect();
    assert_eq!(versions, [1].into_iter().chain(11..=60).collect::<Vec<_>>());
    assert!(store.agree(&name("total"), 60).unwrap());
    save(&store, &new("60", &["kv:notes"]));
    let versions: Vec<u32> = store.versions(&name("total")).unwrap().iter().map(|entry| entry.version).collect();
    assert_eq!(versions, (12..=61).collect::<Vec<_>>());
}

#[test]
fn too_much_is_refused_and_what_was_changed_is_not_run() {
    let (_folder, data) = folder();
    let store = data.snippets().unwrap();
    let large = "x".repeat((1 << 20) + 1);
    for (new, what) in [
        (new(&large, &[]), "the program of a snippet has at most 1024 KiB"),
        (
            NewSnippet { description: large[..5000].into(), ..new("1", &[]) },
            "the description of a snippet has at most 4 KiB",
        ),
    ] {
        match store.save(&new, true) {
            Err(StoreError::Invalid(why)) => assert_eq!(why, what),
            other => panic!("{other:?}"),
        }
    }
    save(&store, &new("return 1", &[]));
    let db = rusqlite::Connection::open(data.path().join("snippets.sqlite")).unwrap();
    db.execute("UPDATE snippets SET source = 'return 2'", []).unwrap();
    assert!(matches!(store.find(&name("total"), None), Err(StoreError::Damaged(_))));
}
