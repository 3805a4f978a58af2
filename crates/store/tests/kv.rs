//! Key spaces over a real database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{BindingName, HostReply, Json, KeySpaces as _, KvOp, Timestamp};
use isolith_store::{DataFolder, Kv};
use serde_json::{Value, json};

const ROOM: u64 = 1 << 30;

struct Fixture {
    kv: Kv,
    now: Timestamp,
    quota: u64,
    _folder: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let kv = DataFolder::open(folder.path().join("data")).unwrap().kv().unwrap();
    Fixture { kv, now: Timestamp::from_micros(1_000_000_000), quota: ROOM, _folder: folder }
}

fn op_of(op: &Value) -> KvOp {
    let text = |name: &str| op[name].as_str().map(str::to_owned);
    let json = |name: &str| op.get(name).map(|value| Json::of(value).unwrap());
    let key = text("key").unwrap_or_default();
    match op["op"].as_str().unwrap() {
        "get" => KvOp::Get { keys: serde_json::from_value(op["keys"].clone()).unwrap() },
        "put" => KvOp::Put {
            key,
            value: json("value").unwrap(),
            ttl_ms: op["ttl_ms"].as_u64(),
            metadata: json("metadata"),
            expect: op["expect"].as_u64(),
        },
        "delete" => KvOp::Delete { key, expect: op["expect"].as_u64() },
        _ => KvOp::List {
            prefix: text("prefix").unwrap_or_default(),
            cursor: text("cursor"),
            limit: op["limit"].as_u64().map(|limit| limit as u32),
        },
    }
}

impl Fixture {
    fn reply(&self, space: &str, op: Value) -> HostReply {
        let op = op_of(&op);
        self.kv.perform_now(&BindingName::new(space).unwrap(), self.quota, &op, self.now)
    }

    fn ask(&self, op: Value) -> Value {
        match self.reply("notes", op) {
            HostReply::Value { json: Some(json) } => json.parse().unwrap(),
            HostReply::Failed { error } => json!({ "error": error.code, "name": error.name }),
            other => panic!("{other:?}"),
        }
    }

    fn put(&self, key: &str, value: Value) -> Value {
        self.ask(json!({ "op": "put", "key": key, "value": value }))
    }

    fn get(&self, key: &str) -> Value {
        self.ask(json!({ "op": "get", "keys": [key] }))[0]["value"].clone()
    }
}

#[test]
fn what_is_put_is_got_back_as_it_was() {
    let f = fixture();
    let text = r#"{"b":1.50,"a":"\ud800","n":[null,1e400]}"#;
    let put = KvOp::Put {
        key: "k\0ü".into(),
        value: Json::from_text(text.into()).unwrap(),
        ttl_ms: Some(60_000),
        metadata: Some(Json::from_text("{\"x\": 1}".into()).unwrap()),
        expect: None,
    };
    let notes = BindingName::new("notes").unwrap();
    f.kv.perform_now(&notes, ROOM, &put, f.now);
    let get = KvOp::Get { keys: vec!["k\0ü".into(), "none".into(), "k".into()] };
    let HostReply::Value { json: Some(json) } = f.kv.perform_now(&notes, ROOM, &get, f.now) else { panic!() };
    let entry = format!(r#"{{"value":{text},"metadata":{{"x": 1}},"version":1,"expires":1060000}}"#);
    assert_eq!(json.text(), format!("[{entry},null,null]"));
    assert_eq!(f.reply("other", json!({ "op": "get", "keys": ["k\0ü"] })), HostReply::value(&json!([null])));
}

#[test]
fn versions_grow_and_are_never_used_twice() {
    let f = fixture();
    let delete = |expect: Option<u64>| f.ask(json!({ "op": "delete", "key": "a", "expect": expect }));
    let put = |expect: Option<u64>| f.ask(json!({ "op": "put", "key": "a", "value": 0, "expect": expect }));
    let rows: Vec<(Value, Value)> = vec![
        (put(None), json!(1)),
        (put(Some(0)), json!(null)),
        (put(Some(7)), json!(null)),
        (put(Some(1)), json!(2)),
        (delete(Some(1)), json!(null)),
        (delete(Some(2)), json!(true)),
        (delete(None), json!(false)),
        (delete(Some(0)), json!(false)),
        (put(Some(2)), json!(null)),
        (put(Some(0)), json!(3)),
        (f.put("b", json!(0)), json!(4)),
    ];
    for (position, (found, expected)) in rows.into_iter().enumerate() {
        assert_eq!(found, expected, "row {position}");
    }
}

#[test]
fn lists_come_in_pages_by_prefix() {
    let f = fixture();
    for key in ["a", "b/1", "b/2", "b/3", "b0", "c", "b/ü", "b/\u{10ffff}"] {
        f.ask(json!({ "op": "put", "key": key, "value": 1, "metadata": key }));
    }
    let keys = |answer: &Value| -> Vec<String> {
        answer["keys"].as_array().unwrap().iter().map(|k| k["key"].as_str().unwrap().to_owned()).collect()
    };
    let first = f.ask(json!({ "op": "list", "prefix": "b/", "limit": 2 }));
    assert_eq!(keys(&first), ["b/1", "b/2"]);
    assert_eq!(first["keys"][0], json!({ "key": "b/1", "metadata": "b/1", "version": 2, "expires": null }));
    let second = f.ask(json!({ "op": "list", "prefix": "b/", "cursor": first["cursor"], "limit": 3 }));
    assert_eq!(keys(&second), ["b/3", "b/ü", "b/\u{10ffff}"]);
    assert_eq!(second["cursor"], Value::Null);
    assert_eq!(keys(&f.ask(json!({ "op": "list" }))).len(), 8);
    assert_eq!(keys(&f.ask(json!({ "op": "list", "prefix": "zz" }))).len(), 0);
    for number in 0..1200 {
        f.put(&format!("n{number:04}"), json!(0));
    }
    for (limit, found) in [(json!(null), 100), (json!(0), 1), (json!(5000), 1000)] {
        let page = f.ask(json!({ "op": "list", "prefix": "n", "limit": limit }));
        assert_eq!((keys(&page).len(), page["cursor"].is_string()), (found, true), "{limit}");
    }
    for cursor in ["x", "zz", "ff"] {
        assert_eq!(f.ask(json!({ "op": "list", "cursor": cursor }))["error"], "kv.invalid", "{cursor}");
    }
}

#[test]
fn what_expired_is_gone_at_once_and_swept_by_writes() {
    let mut f = fixture();
    for number in 0..200 {
        f.ask(json!({ "op": "put", "key": format!("t{number}"), "value": "x", "ttl_ms": 1000 }));
    }
    f.ask(json!({ "op": "put", "key": "stays", "value": 1 }));
    let full = f.used();
    f.now = f.now.after(std::time::Duration::from_millis(999));
    assert_eq!(f.get("t0"), "x");
    f.now = f.now.after(std::time::Duration::from_millis(1));
    assert_eq!(f.get("t0"), Value::Null);
    assert_eq!(f.ask(json!({ "op": "list" }))["keys"].as_array().unwrap().len(), 1);
    assert_eq!(f.ask(json!({ "op": "delete", "key": "t0" })), json!(false));
    assert_eq!(f.ask(json!({ "op": "put", "key": "t1", "value": 2, "expect": 0 })), json!(202));
    // Two writes took away two batches and no more.
    let after = f.used();
    assert!(after < full && after > 0, "{full} {after}");
    for _ in 0..5 {
        f.put("stays", json!(1));
    }
    assert_eq!(f.used(), ("stays".len() + 1 + "t1".len() + 1) as u64);
}

impl Fixture {
    fn used(&self) -> u64 {
        let path = self._folder.path().join("data/kv.sqlite");
        let db = rusqlite::Connection::open(path).unwrap();
        let used: i64 = db.query_row("SELECT used_bytes FROM spaces", [], |row| row.get(0)).unwrap();
        let sum: i64 = db.query_row("SELECT coalesce(sum(bytes), 0) FROM entries", [], |row| row.get(0)).unwrap();
        assert_eq!(used, sum, "the sum that is kept is the sum there is");
        used.cast_unsigned()
    }
}

#[test]
fn a_quota_is_exact_and_counts_keys_values_and_metadata() {
    let mut f = fixture();
    f.quota = 10;
    assert_eq!(f.put("abc", json!("12345")), json!(1), "3 + 7 bytes fit exactly");
    assert_eq!(f.put("abc", json!("123456"))["error"], "kv.quota");
    assert_eq!(f.get("abc"), "12345", "what was there stays");
    assert_eq!(f.put("b", json!(1))["error"], "kv.quota");
    assert_eq!(f.put("abc", json!("1")), json!(2), "in its place there is room");
    assert_eq!(f.ask(json!({ "op": "put", "key": "b", "value": 1, "metadata": 22 })), json!(3));
    assert_eq!(f.put("c", json!(1))["error"], "kv.quota");
    assert_eq!(f.ask(json!({ "op": "delete", "key": "abc" })), json!(true));
    assert_eq!(f.used(), 4);
    let refused = f.reply("notes", json!({ "op": "put", "key": "c", "value": "123456" }));
    let message = "the key space is full: 4 of 10 bytes are used, and this entry has 9";
    assert_eq!(refused, HostReply::failed_as("kv.quota", "RangeError", message));
}

#[test]
fn what_expired_makes_room() {
    let mut f = fixture();
    f.quota = 100;
    for key in ["a", "b", "c"] {
        f.ask(json!({ "op": "put", "key": key, "value": "x".repeat(28), "ttl_ms": 10 }));
    }
    f.now = f.now.after(std::time::Duration::from_secs(1));
    assert_eq!(f.put("d", json!("y".repeat(90))), json!(4));
    assert_eq!(f.used(), 93);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let f = fixture();
    let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    for (op, what) in [
        (json!({ "op": "get", "keys": [""] }), "empty"),
        (json!({ "op": "get", "keys": ["x".repeat(513)] }), "long"),
        (json!({ "op": "get", "keys": many }), "many"),
        (json!({ "op": "put", "key": "", "value": 1 }), "empty"),
        (json!({ "op": "put", "key": "ü".repeat(257), "value": 1 }), "long in bytes"),
        (json!({ "op": "put", "key": "a", "value": "x".repeat((16 << 20) - 1) }), "large"),
        (json!({ "op": "put", "key": "a", "value": 1, "metadata": "x".repeat(4095) }), "large metadata"),
        (json!({ "op": "delete", "key": "" }), "empty"),
        (json!({ "op": "list", "prefix": "x".repeat(513) }), "long prefix"),
    ] {
        assert_eq!(f.ask(op), json!({ "error": "kv.invalid", "name": "TypeError" }), "{what}");
    }
    assert_eq!(f.put(&"x".repeat(512), json!("x".repeat((16 << 20) - 2))), json!(1), "as large as can be");
    f.put("second", json!("x".repeat((16 << 20) - 2)));
    let both = f.ask(json!({ "op": "get", "keys": ["x".repeat(512), "second", "second"] }));
    assert_eq!(both["error"], "kv.too_large");
}

#[test]
fn reads_are_done_in_the_first_poll() {
    let f = fixture();
    f.put("a", json!(1));
    let notes = BindingName::new("notes").unwrap();
    let mut read = f.kv.perform(notes, ROOM, KvOp::Get { keys: vec!["a".into()] }, f.now);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_ready());
}

#[test]
fn writes_at_the_same_time_keep_the_sum() {
    let f = fixture();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let notes = BindingName::new("notes").unwrap();
    runtime.block_on(async {
        let writes: Vec<_> = (0..100u32)
            .map(|n| {
                let (kv, notes, now) = (f.kv.clone(), notes.clone(), f.now);
                let value = Json::of(&n).unwrap();
                let put = KvOp::Put { key: format!("k{}", n % 7), value, ttl_ms: None, metadata: None, expect: None };
                tokio::spawn(async move { kv.perform(notes, ROOM, put, now).await })
            })
            .collect();
        for write in writes {
            assert!(matches!(write.await.unwrap(), HostReply::Value { .. }));
        }
    });
    f.used();
    let versions = f.ask(json!({ "op": "list" }));
    assert_eq!(versions["keys"].as_array().unwrap().iter().map(|k| k["version"].as_u64().unwrap()).max(), Some(100));
}
