//! Calls with files, as a guest makes them: in a workspace, and below folders of the host.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::files::{FileTree, Room};
use isolith_core::{CallId, FilesOp, Grant, Host as _, HostCall, HostReply, Limits, RunId};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use isolith_workspace::{Memory, Scope, perform};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    InATree,
    OnTheHost,
}

const BOTH: [Kept; 2] = [Kept::InATree, Kept::OnTheHost];

struct Desk {
    gate: Gate,
    tree: Arc<dyn FileTree>,
    root: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Desk {
    fn new(kept: Kept, grants: &[Value]) -> Desk {
        let grants: Vec<Grant> = grants.iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect();
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        let tree: Arc<dyn FileTree> = Arc::new(Memory::new(Room::default()));
        for (path, text) in [
            ("docs/a.txt", "one\ntwo\n"),
            ("docs/sub/b.txt", "two"),
            ("docs/shut/secret", "SECRET two"),
            ("private", "SECRET"),
        ] {
            let op = FilesOp::Write { path: path.into(), append: false };
            perform(&*tree, &Scope::whole(), &op, text.as_bytes()).unwrap();
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        let mut means = Means::new(Arc::new(Net::new(NetOptions::default()).unwrap()), root.clone());
        means.tree = (kept == Kept::InATree).then(|| Arc::clone(&tree));
        let identity = Identity { run: RunId("r".into()), program: "p".into() };
        let gate = Gate::new(grants, Limits::default(), identity, means).unwrap();
        Desk { gate, tree, root, _temporary: temporary }
    }

    async fn call(&self, op: &Value, bytes: &[u8]) -> HostReply {
        let op: FilesOp = serde_json::from_value(op.clone()).unwrap();
        let answer = self.gate.call(CallId(0), HostCall::Files { op, bytes: bytes.to_vec() }).await;
        assert_eq!(answer.acts.len(), 1, "it is written down");
        answer.reply
    }

    async fn ask(&self, op: Value) -> Value {
        self.ask_with(op, b"").await
    }

    async fn ask_with(&self, op: Value, bytes: &[u8]) -> Value {
        match self.call(&op, bytes).await {
            HostReply::Value { json } => json.map_or(Value::Null, |json| serde_json::from_str(json.text()).unwrap()),
            HostReply::Bytes { bytes } => json!(String::from_utf8(bytes).unwrap()),
            HostReply::Failed { error } => {
                let outside = self.root.parent().unwrap().to_str().unwrap();
                assert!(!error.message.contains(outside), "a path of the host: {}", error.message);
                json!(format!("! {}", error.code.unwrap()))
            }
            other => panic!("{other:?}"),
        }
    }

    async fn refused(&self, op: Value) -> (String, String, String) {
        match self.call(&op, b"x").await {
            HostReply::Failed { error } => (error.name, error.code.unwrap(), error.message),
            other => panic!("{op}: {other:?}"),
        }
    }

    async fn text(&self, path: &str) -> Value {
        self.ask(json!({ "op": "read", "path": path })).await
    }
}

fn write_docs() -> Value {
    json!("files:write docs")
}

#[tokio::test]
async fn every_operation_is_performed() {
    for kept in BOTH {
        let desk = Desk::new(kept, &[write_docs()]);
        let edit = json!({ "op": "edit", "path": "docs/a.txt", "edits": [{ "old": "two", "new": "$1" }] });
        assert_eq!(desk.ask(edit).await, json!({ "size": 7, "replaced": 1 }), "{kept:?}");
        assert_eq!(desk.text("docs/a.txt").await, "one\n$1\n");
        let lines = desk.ask(json!({ "op": "read_lines", "path": "docs/a.txt", "from": 2 })).await;
        assert_eq!(lines, json!({ "text": "$1\n", "from": 2, "lines": 1, "total": 2 }));
        assert_eq!(desk.ask(json!({ "op": "copy", "path": "docs/sub", "to": "docs/far/sub" })).await, Value::Null);
        assert_eq!(desk.text("docs/far/sub/b.txt").await, "two");
        assert_eq!(
            desk.ask(json!({ "op": "set", "path": "docs/a.txt", "mode": 0o700, "modified": 1000 })).await,
            Value::Null
        );
        let stat = desk.ask(json!({ "op": "stat", "path": "docs/a.txt" })).await;
        assert_eq!(stat, json!({ "kind": "file", "size": 7, "modified": 1000, "mode": 0o700 }), "{kept:?}");
        let glob = desk.ask(json!({ "op": "glob", "path": "docs", "pattern": "**/*.txt" })).await;
        assert_eq!(glob["paths"], json!(["docs/a.txt", "docs/far/sub/b.txt", "docs/sub/b.txt"]));
        let grep = desk.ask(json!({ "op": "grep", "path": "docs", "pattern": "^two$" })).await;
        assert_eq!(grep["matches"].as_array().unwrap().len(), 2, "{grep}");
        let find = desk.ask(json!({ "op": "find", "path": "docs", "kind": "file", "since": 2000 })).await;
        assert_eq!(find["entries"].as_array().unwrap().len(), 3, "{find}");
        let tree = desk.ask(json!({ "op": "tree", "path": "docs", "depth": 1 })).await;
        assert_eq!(tree["text"], "docs/\n  a.txt\n  far/\n  shut/\n  sub/\n");
        let diff = desk.ask(json!({ "op": "diff", "path": "docs/a.txt", "to": "docs/sub/b.txt" })).await;
        assert!(diff["diff"].as_str().unwrap().starts_with("--- a/docs/a.txt\n+++ b/docs/sub/b.txt\n"), "{diff}");
        let list = desk.ask(json!({ "op": "list", "path": "docs/sub" })).await;
        assert_eq!(list["entries"], json!([{ "name": "b.txt", "kind": "file", "size": 3 }]));
        assert_eq!(desk.ask_with(json!({ "op": "write", "path": "docs/w", "append": true }), b"w").await, 1);
        assert_eq!(desk.ask(json!({ "op": "rename", "path": "docs/w", "to": "docs/x/w" })).await, Value::Null);
        assert_eq!(desk.ask(json!({ "op": "make_folder", "path": "docs/m" })).await, Value::Null);
        assert_eq!(desk.ask(json!({ "op": "remove", "path": "docs/x", "recursive": true })).await, true);
    }
}

#[tokio::test]
async fn links_and_history_are_a_workspaces_own() {
    let host = Desk::new(Kept::OnTheHost, &[json!("files:write .")]);
    for op in [
        json!({ "op": "link", "path": "new/l", "target": "a.txt" }),
        json!({ "op": "history" }),
        json!({ "op": "undo" }),
        json!({ "op": "read", "path": "docs/a.txt", "version": 1 }),
        json!({ "op": "diff", "path": "docs/a.txt", "version": 1 }),
    ] {
        assert_eq!(host.ask(op.clone()).await, "! files.unsupported", "{op}");
    }
    assert!(!host.root.join("new").exists());
    let tree = Desk::new(Kept::InATree, &[json!("files:write .")]);
    assert_eq!(tree.ask(json!({ "op": "link", "path": "docs/l", "target": "a.txt" })).await, Value::Null);
    assert_eq!(tree.text("docs/l").await, "one\ntwo\n");
    assert_eq!(tree.ask(json!({ "op": "history", "path": "docs/l" })).await["changes"][0]["what"], "link");
    assert_eq!(tree.ask(json!({ "op": "undo" })).await["paths"], json!(["docs/l"]));
    assert_eq!(tree.text("docs/l").await, "! files.not_found");
    let part = Desk::new(Kept::InATree, &[json!("files:write docs")]);
    assert_eq!(part.ask(json!({ "op": "undo" })).await, "! files.denied", "it is about everything");
}

#[tokio::test]
async fn nothing_else_of_either_is_reached() {
    for kept in BOTH {
        let desk = Desk::new(kept, &[write_docs()]);
        for path in ["private", "docs/../private", "..", "../outside", "/etc/passwd", "docs/sub/../../private"] {
            for op in [
                json!({ "op": "read", "path": path }),
                json!({ "op": "read_lines", "path": path }),
                json!({ "op": "write", "path": path }),
                json!({ "op": "edit", "path": path, "edits": [{ "old": "S", "new": "x" }] }),
                json!({ "op": "copy", "path": path, "to": "docs/x" }),
                json!({ "op": "copy", "path": "docs/a.txt", "to": path }),
                json!({ "op": "rename", "path": "docs/a.txt", "to": path }),
                json!({ "op": "diff", "path": "docs/a.txt", "to": path }),
                json!({ "op": "grep", "path": path, "pattern": "S" }),
                json!({ "op": "glob", "path": path, "pattern": "*" }),
                json!({ "op": "set", "path": path, "mode": 0 }),
            ] {
                let (name, code, message) = desk.refused(op.clone()).await;
                assert_eq!((&*name, &*code), ("DeniedError", "files.denied"), "{kept:?} {op}: {message}");
                assert!(!message.contains("SECRET"));
            }
        }
        assert_eq!(desk.text("docs/a\\b").await, "! files.invalid");
        assert_eq!(desk.text("docs/a.txt").await, "one\ntwo\n");
    }
    let tree = Desk::new(Kept::InATree, &[json!("files:write docs"), json!("files:read /etc")]);
    let (_, _, message) = tree.refused(json!({ "op": "read", "path": "/etc/passwd" })).await;
    assert!(message.contains("write `etc/passwd`"), "{message}");
    let host = Desk::new(Kept::OnTheHost, &[json!(format!("files:read {}", std::env::temp_dir().display()))]);
    let absolute = host.root.join("docs");
    let glob = host.ask(json!({ "op": "glob", "path": absolute.to_str().unwrap(), "pattern": "*.txt" })).await;
    assert_eq!(glob["paths"], json!([absolute.join("a.txt").to_str().unwrap()]), "a grant may be of the host's tree");
}

#[tokio::test]
async fn places_under_another_rule_are_passed_over_and_stay() {
    for kept in BOTH {
        let desk = Desk::new(kept, &[write_docs(), json!("deny files:write docs/shut")]);
        assert_eq!(desk.text("docs/shut/secret").await, "! files.denied");
        let grep = desk.ask(json!({ "op": "grep", "path": "docs", "pattern": "two|SECRET" })).await;
        assert!(
            !grep.to_string().contains("SECRET") && grep["matches"].as_array().unwrap().len() == 2,
            "{kept:?} {grep}"
        );
        let glob = desk.ask(json!({ "op": "glob", "path": "docs", "pattern": "**" })).await;
        assert!(!glob.to_string().contains("shut"), "{kept:?} {glob}");
        for op in [
            json!({ "op": "copy", "path": "docs/shut", "to": "docs/free" }),
            json!({ "op": "copy", "path": "docs/shut/secret", "to": "docs/free" }),
            json!({ "op": "diff", "path": "docs/a.txt", "to": "docs/shut/secret" }),
            json!({ "op": "rename", "path": "docs/a.txt", "to": "docs/shut/a" }),
            json!({ "op": "remove", "path": "docs/shut", "recursive": true }),
            json!({ "op": "remove", "path": "docs", "recursive": true }),
            json!({ "op": "edit", "path": "docs/shut/secret", "edits": [{ "old": "S", "new": "x" }] }),
        ] {
            assert_eq!(desk.ask(op.clone()).await, "! files.denied", "{kept:?} {op}");
        }
        let link = json!({ "op": "link", "path": "docs/alias", "target": "shut" });
        assert_eq!(desk.ask(link).await, if kept == Kept::InATree { "! files.denied" } else { "! files.unsupported" });
    }
    // A link that someone else made is no way around the rule either.
    let op = FilesOp::Link { path: "docs/alias".into(), target: "shut".into() };
    let tree = Desk::new(Kept::InATree, &[write_docs(), json!("deny files:write docs/shut")]);
    perform(&*tree.tree, &Scope::whole(), &op, b"").unwrap();
    assert_eq!(tree.text("docs/alias/secret").await, "! files.denied");
    let host = Desk::new(Kept::OnTheHost, &[write_docs(), json!("deny files:write docs/shut")]);
    symlink("shut", host.root.join("docs/alias")).unwrap();
    assert_eq!(host.text("docs/alias/secret").await, "! files.denied");
    assert_eq!(host.ask(json!({ "op": "read_lines", "path": "docs/alias/secret" })).await, "! files.denied");
}

#[tokio::test]
async fn a_run_writes_no_more_than_its_quota_however_it_writes() {
    for kept in BOTH {
        let grant = json!({ "kind": "files", "path": "docs", "access": "write", "quota": "20B" });
        let grant = Grant::from_value(&grant, "").map_or_else(
            |_| json!({ "kind": "files", "path": "docs", "access": "write", "quota": 20 }),
            |_| grant.clone(),
        );
        let desk = Desk::new(kept, &[grant]);
        let write = |path: &str| json!({ "op": "write", "path": path });
        assert_eq!(desk.ask_with(write("docs/x"), b"0123456789").await, 10, "{kept:?}");
        let grow = json!({ "op": "edit", "path": "docs/x", "edits": [{ "old": "0", "new": "00" }] });
        assert_eq!(desk.ask(grow).await, "! files.quota", "all of the file is written");
        assert_eq!(desk.text("docs/x").await, "0123456789");
        assert_eq!(desk.ask(json!({ "op": "copy", "path": "docs/x", "to": "docs/y" })).await, Value::Null);
        assert_eq!(desk.ask(json!({ "op": "copy", "path": "docs/x", "to": "docs/z" })).await, "! files.quota");
        assert_eq!(desk.ask(json!({ "op": "stat", "path": "docs/z" })).await, Value::Null);
        let (name, _, message) = desk.refused(write("docs/w")).await;
        assert_eq!(name, "RangeError");
        assert!(message.contains("1 bytes more than the 20 this run has written"), "{message}");
        // What fails is not counted: a folder with the same name was in the way.
        let desk = Desk::new(kept, &[json!({ "kind": "files", "path": "docs", "access": "write", "quota": 20 })]);
        assert_eq!(desk.ask_with(write("docs/sub"), b"01234567890123456789").await, "! files.not_a_file");
        assert_eq!(desk.ask_with(write("docs/x"), b"01234567890123456789").await, 20);
    }
}

#[tokio::test]
async fn large_files_are_streamed_from_both() {
    for kept in BOTH {
        let desk = Desk::new(kept, &[write_docs()]);
        let bytes: Vec<u8> = (0..700_000).map(|at| (at % 251) as u8).collect();
        desk.ask_with(json!({ "op": "write", "path": "docs/large" }), &bytes).await;
        let read = json!({ "op": "read", "path": "docs/large", "offset": 1 });
        let HostReply::Body { body, length } = desk.call(&read, b"").await else { panic!("{kept:?}: no body") };
        assert_eq!(length, Some(699_999));
        let mut whole = Vec::new();
        loop {
            let answer = desk.gate.call(CallId(1), HostCall::ReadBody { body, most_bytes: u32::MAX }).await;
            let HostReply::Bytes { bytes } = answer.reply else { panic!("{:?}", answer.reply) };
            if bytes.is_empty() {
                break;
            }
            whole.extend(bytes);
        }
        assert!(whole == bytes[1..], "{kept:?}");
        if kept == Kept::InATree {
            let HostReply::Body { body, .. } = desk.call(&read, b"").await else { panic!() };
            desk.ask_with(json!({ "op": "write", "path": "docs/large" }), &vec![0; 700_000]).await;
            let answer = desk.gate.call(CallId(2), HostCall::ReadBody { body, most_bytes: 10 }).await;
            let HostReply::Failed { error } = answer.reply else { panic!("{:?}", answer.reply) };
            assert!(error.message.contains("it changed while it was read"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn links_of_the_host_lead_no_search_out() {
    let desk = Desk::new(Kept::OnTheHost, &[write_docs()]);
    let (docs, outside) = (desk.root.join("docs"), desk.root.join("../outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "SECRET two").unwrap();
    std::fs::remove_dir_all(docs.join("shut")).unwrap();
    symlink("../../outside", docs.join("up")).unwrap();
    symlink("../private", docs.join("file")).unwrap();
    symlink(outside.canonicalize().unwrap(), docs.join("absolute")).unwrap();
    symlink("a.txt", docs.join("within")).unwrap();
    symlink("/proc/self/root/etc", docs.join("magic")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(docs.join("pipe")).status().unwrap().success());
    for path in ["docs/up/secret", "docs/file", "docs/absolute/secret", "docs/magic/passwd"] {
        for op in [
            json!({ "op": "read_lines", "path": path }),
            json!({ "op": "edit", "path": path, "edits": [{ "old": "S", "new": "x", "replace_all": true }] }),
            json!({ "op": "copy", "path": path, "to": "docs/stolen" }),
            json!({ "op": "copy", "path": "docs/a.txt", "to": path }),
            json!({ "op": "diff", "path": "docs/a.txt", "to": path }),
            json!({ "op": "grep", "path": path, "pattern": "S" }),
            json!({ "op": "set", "path": path, "mode": 0 }),
        ] {
            let said = desk.ask(op.clone()).await;
            assert!(said == "! files.denied" || said == "! files.exists", "{op}: {said}");
        }
        assert_eq!(desk.ask(json!({ "op": "glob", "path": path, "pattern": "*" })).await, "! files.denied");
    }
    let grep = desk.ask(json!({ "op": "grep", "path": "docs", "pattern": "two|SECRET" })).await;
    assert!(!grep.to_string().contains("SECRET"), "{grep}");
    let tree = desk.ask(json!({ "op": "tree", "path": "docs" })).await["text"].as_str().unwrap().to_owned();
    assert!(tree.contains("within -> a.txt") && !tree.contains("outside") && !tree.contains("pipe"), "{tree}");
    assert_eq!(desk.ask(json!({ "op": "read_lines", "path": "docs/within" })).await["total"], 2);
    assert_eq!(
        desk.ask(json!({ "op": "edit", "path": "docs/within", "edits": [{ "old": "one", "new": "x" }] })).await,
        "! files.denied"
    );
    let whole = desk.ask(json!({ "op": "copy", "path": "docs", "to": "docs/copy" })).await;
    assert!(whole == "! files.denied" || whole == "! files.invalid", "{whole}");
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "SECRET two");
    assert_eq!(std::fs::read_to_string(desk.root.join("private")).unwrap(), "SECRET");
    assert!(!docs.join("stolen").exists());
}
