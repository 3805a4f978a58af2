//! Keys to a server: shown once, listed without their text, revoked at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::Ran;
use support::place::{Place, place};
use support::search;

/// How long every key is.
const KEY_CHARS: usize = 101;

fn create(place: &Place, flags: &[&str]) -> Ran {
    place.isolith(&[&["key", "create"], flags].concat())
}

fn list(place: &Place) -> Vec<Value> {
    let ran = place.isolith(&["key", "list", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn id(key: &str) -> &str {
    key.strip_prefix("isk_").unwrap().split('_').next().unwrap()
}

#[test]
fn a_key_is_shown_once_and_kept_nowhere() {
    let place = place();
    let made = create(&place, &["agents"]);
    let key = made.stdout.strip_suffix('\n').unwrap();
    assert_eq!((made.code, key.len(), key.lines().count()), (0, KEY_CHARS, 1), "{made:?}");
    let (_, secret) = key.strip_prefix("isk_").unwrap().split_once('_').unwrap();
    let hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    assert!(id(key).len() == 32 && hex(id(key)) && secret.len() == 64 && hex(secret), "{key}");
    assert!(made.stderr.contains("not shown again") && made.stderr.contains("isolith key revoke agents"), "{made:?}");
    assert!(!made.stderr.contains(secret));
    for (file, bytes) in search::files_below(place.data.path()) {
        assert_eq!(search::found(secret, &bytes), None, "it is in {file}");
    }
    for flags in [&["key", "list"][..], &["key", "list", "--json"], &["key", "revoke", "agents", "--json"]] {
        let ran = place.isolith(flags);
        assert!(ran.code == 0 && !ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    }
}

#[test]
fn a_key_is_good_for_what_was_said() {
    let place = place();
    place.write("policy.toml", "grants = [\"kv:cache\"]\n[limits]\nmemory = \"64MiB\"\n");
    let plain = create(&place, &["plain"]);
    let full = create(
        &place,
        &["full", "--scope", "metrics,runs", "--scope", "audit", "--policy", "policy.toml", "--rate", "7", "--json"],
    );
    assert_eq!(full.code, 0, "{}", full.stderr);
    let full: Value = serde_json::from_str(&full.stdout).unwrap();
    let kept = list(&place);
    let rows: Vec<Value> =
        kept.iter().map(|key| json!([key["name"], key["scopes"], key["rate"], key["revoked"]])).collect();
    assert_eq!(rows, [json!(["plain", ["runs"], null, null]), json!(["full", ["runs", "audit", "metrics"], 7, null])]);
    assert_eq!((&kept[0]["policy"], &kept[0]["id"]), (&Value::Null, &json!(id(plain.stdout.trim()))));
    let policy = &kept[1]["policy"];
    assert_eq!(
        (&policy["grants"][0]["kind"], &policy["grants"][0]["name"]),
        (&json!("kv"), &json!("cache")),
        "{policy}"
    );
    assert!(kept[1]["created"].as_u64().unwrap() > 1_600_000_000_000_000);
    assert!(kept.iter().all(|key| key.get("hash").is_none() && key.get("key").is_none()));
    // What was printed when it was made is the same, and its text.
    let mut told = full;
    let text = told.as_object_mut().unwrap().remove("key").unwrap();
    assert_eq!((&told, id(text.as_str().unwrap())), (&kept[1], kept[1]["id"].as_str().unwrap()));
    let shown = place.isolith(&["key", "list"]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("plain {} runs created 20", kept[0]["id"].as_str().unwrap())), "{shown:?}");
    assert!(lines[1].contains(" runs,audit,metrics 7/s policy created 20"), "{shown:?}");
}

#[test]
fn a_key_is_revoked_by_its_name_its_id_or_its_text() {
    let place = place();
    let by = |which: &str| {
        let key = create(&place, &["agents"]).stdout.trim().to_owned();
        let given = match which {
            "name" => "agents".to_owned(),
            "id" => id(&key).to_owned(),
            _ => key.clone(),
        };
        let other = create(&place, &[&format!("other-{which}")]);
        let revoked = place.isolith(&["key", "revoke", &given]);
        assert_eq!((revoked.code, revoked.stdout.as_str()), (0, ""), "{which}: {}", revoked.stderr);
        assert!(
            revoked.stderr.starts_with("revoked: the key `agents`") && !revoked.stderr.contains(&key),
            "{revoked:?}"
        );
        let again = place.isolith(&["key", "revoke", &given, "--json"]);
        assert_eq!((again.code, again.stdout.as_str()), (2, ""), "{which}: {again:?}");
        assert!(again.stderr.contains("was revoked before") && !again.stderr.contains(&key), "{again:?}");
        let live: Vec<Value> = list(&place).into_iter().filter(|key| key["revoked"].is_null()).collect();
        assert_eq!(live.last().unwrap()["id"], id(other.stdout.trim()), "the others stay");
        assert!(live.iter().all(|key| key["name"] != "agents"));
    };
    ["name", "id", "text"].into_iter().for_each(by);
    assert_eq!(list(&place).len(), 6, "what was revoked is still listed");
    let shown = place.isolith(&["key", "list"]).stdout;
    assert_eq!(shown.lines().filter(|line| line.contains(" revoked 20")).count(), 3, "{shown}");
    let revoked = place.isolith(&["key", "revoke", "other-id", "--json"]);
    let told: Value = serde_json::from_str(&revoked.stdout).unwrap();
    assert!(told["name"] == "other-id" && told["revoked"].is_u64(), "{told}");
    assert!(!revoked.stderr.contains("no key is left"), "{revoked:?}");
    place.isolith(&["key", "revoke", "other-name"]).is_code(0);
    let last = place.isolith(&["key", "revoke", "other-text"]);
    assert!(last.code == 0 && last.stderr.contains("no key is left"), "{last:?}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let place = place();
    place.write("bad.toml", "grunts = []");
    create(&place, &["taken"]).is_code(0);
    let id = "0f".repeat(16);
    let rows: [(&[&str], &str, &str); 11] = [
        (&["create", "taken"], "there is a key `taken` already", "isolith key list"),
        (&["create", "a b"], "1 to 64 letters", "isolith key list"),
        (&["create", &id], "like the id", "isolith key list"),
        (&["create", "x", "--scope", "everything"], "everything", "isolith help"),
        (&["create", "x", "--scope", ""], "scope", "isolith help"),
        (&["create", "x", "--rate", "0"], "0", "isolith help"),
        (&["create", "x", "--policy", "bad.toml"], "grunts", "isolith manifest schema"),
        (&["create", "x", "--policy", "gone.toml"], "gone.toml", "hint"),
        (&["revoke", "gone"], "no key `gone` is kept", "isolith key list"),
        (&["revoke", &id], "is kept", "isolith key list"),
        (&["revoke", "isk_0123"], "not the text of a key", "isolith key list"),
    ];
    for (args, says, hint) in rows {
        let ran = place.isolith(&[&["key"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("\nhint: ") && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(list(&place).len(), 1, "nothing was made");
}

#[test]
fn without_keys_the_list_is_empty() {
    let place = place();
    place.isolith(&["key", "list", "--json"]).is(0, "[]\n", "");
    place.isolith(&["key", "list"]).is(0, "", "there is no key: `isolith key create NAME` makes one\n");
}

#[test]
fn completions_know_the_keys() {
    let ran = place().isolith(&["completions", "bash"]);
    for word in ["revoke", "isolates", "--scope"] {
        assert!(ran.stdout.contains(word), "{word}");
    }
}

impl support::Ran {
    #[track_caller]
    fn is_code(&self, code: i32) {
        assert_eq!(self.code, code, "{self:?}");
    }
}
