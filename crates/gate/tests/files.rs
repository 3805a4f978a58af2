//! Files below granted paths, and attempts at the others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{Access, BindingName, CallError, FilesGrant, FilesOp, Grant, GuestPath, Power, Rule};
use isolith_gate::{FilesAnswer, Folders};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

struct Fixture {
    folders: Folders,
    grant: FilesGrant,
    root: PathBuf,
    _temporary: tempfile::TempDir,
}

/// `root/docs` is granted; `outside` is beside `root`.
fn fixture() -> Fixture {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("root");
    std::fs::create_dir_all(root.join("docs/sub")).unwrap();
    std::fs::create_dir_all(temporary.path().join("outside")).unwrap();
    std::fs::write(temporary.path().join("outside/secret"), "SECRET").unwrap();
    std::fs::write(root.join("private"), "SECRET").unwrap();
    std::fs::write(root.join("docs/a.txt"), "hello").unwrap();
    Fixture { folders: Folders::new(root.clone()), grant: grant("docs"), root, _temporary: temporary }
}

fn grant(path: &str) -> FilesGrant {
    FilesGrant { path: path_of(path), access: Access::Write, quota_bytes: 1 << 30 }
}

fn path_of(path: &str) -> GuestPath {
    GuestPath::new(path).unwrap()
}

enum Got {
    Value(Value),
    Bytes(Vec<u8>),
    Failed(CallError),
}

impl Fixture {
    async fn perform(&self, op: FilesOp, bytes: &[u8]) -> Result<FilesAnswer, CallError> {
        let to = op.to().map(path_of);
        self.folders.perform(&self.grant, path_of(op.path()), to, &op, bytes.to_vec()).await
    }

    async fn got(&self, op: FilesOp, bytes: &[u8]) -> Got {
        match self.perform(op, bytes).await {
            Ok(FilesAnswer::Value(value)) => Got::Value(value),
            Ok(FilesAnswer::Bytes(bytes)) => Got::Bytes(bytes),
            Ok(FilesAnswer::Stream(..)) => panic!("a stream"),
            Err(error) => {
                let outside = self.root.parent().unwrap().to_str().unwrap();
                assert!(!error.message.contains(outside), "a path of the host: {}", error.message);
                Got::Failed(error)
            }
        }
    }

    /// What happened, in short: a value, a text, or a code.
    async fn ask(&self, op: FilesOp) -> Value {
        self.ask_with(op, b"").await
    }

    async fn ask_with(&self, op: FilesOp, bytes: &[u8]) -> Value {
        match self.got(op, bytes).await {
            Got::Value(value) => value,
            Got::Bytes(bytes) => json!(String::from_utf8(bytes).unwrap()),
            Got::Failed(error) => json!(format!("! {}", error.code.unwrap())),
        }
    }

    async fn write(&self, path: &str, text: &str) -> Value {
        self.ask_with(FilesOp::Write { path: path.into(), append: false }, text.as_bytes()).await
    }

    async fn append(&self, path: &str, text: &str) -> Value {
        self.ask_with(FilesOp::Write { path: path.into(), append: true }, text.as_bytes()).await
    }

    async fn text(&self, path: &str) -> Value {
        self.ask(read(path)).await
    }

    fn docs(&self) -> PathBuf {
        self.root.join("docs")
    }
}

fn read(path: &str) -> FilesOp {
    FilesOp::read(path)
}

fn op(op: Value) -> FilesOp {
    serde_json::from_value(op).unwrap()
}

fn list(path: &str) -> FilesOp {
    FilesOp::List { path: path.into(), cursor: None, limit: None }
}

fn stat(path: &str) -> FilesOp {
    FilesOp::Stat { path: path.into() }
}

fn remove(path: &str, recursive: bool) -> FilesOp {
    FilesOp::Remove { path: path.into(), recursive }
}

fn rename(path: &str, to: &str) -> FilesOp {
    FilesOp::Rename { path: path.into(), to: to.into() }
}

fn make(path: &str) -> FilesOp {
    FilesOp::MakeFolder { path: path.into() }
}

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn files_are_written_read_and_listed() {
    let f = fixture();
    assert_eq!(f.text("docs/a.txt").await, "hello");
    assert_eq!(f.write("docs/new/deep/b.txt", "one").await, 3);
    assert_eq!(f.append("docs/new/deep/b.txt", " two").await, 7);
    assert_eq!(f.append("docs/new/c.txt", "first").await, 5);
    assert_eq!(f.text("docs/new/deep/b.txt").await, "one two");
    assert_eq!(f.write("docs/new/deep/b.txt", "").await, 0);
    assert_eq!(f.text("docs/new/deep/b.txt").await, "");
    let part = |offset, length| FilesOp::Read { path: "docs/a.txt".into(), offset, length, version: None };
    for (offset, length, expected) in [
        (1, None, "ello"),
        (1, Some(2), "el"),
        (4, Some(9), "o"),
        (5, None, ""),
        (u64::MAX, Some(1), ""),
        (0, Some(0), ""),
    ] {
        assert_eq!(f.ask(part(offset, length)).await, expected, "{offset} {length:?}");
    }
    let entries = f.ask(list("docs")).await;
    assert_eq!(
        entries["entries"].as_array().unwrap().iter().map(|e| (&e["name"], &e["kind"])).collect::<Vec<_>>(),
        [(&json!("a.txt"), &json!("file")), (&json!("new"), &json!("folder")), (&json!("sub"), &json!("folder")),]
    );
    let found = f.ask(stat("docs/a.txt")).await;
    assert_eq!((&found["kind"], &found["size"]), (&json!("file"), &json!(5)));
    assert!(found["modified"].as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(f.ask(stat("docs")).await["kind"], "folder");
    assert_eq!(f.ask(stat("docs/none/x")).await, Value::Null);
    assert_eq!(f.ask(stat("docs/a.txt/x")).await, Value::Null);
    assert_eq!(f.ask(make("docs/m/n")).await, Value::Null);
    assert_eq!(f.ask(make("docs/m/n")).await, Value::Null);
    assert_eq!(f.ask(rename("docs/a.txt", "docs/m/moved.txt")).await, Value::Null);
    assert_eq!(f.text("docs/m/moved.txt").await, "hello");
    assert_eq!(f.ask(rename("docs/m", "docs/far/m2")).await, Value::Null);
    assert_eq!(f.text("docs/far/m2/moved.txt").await, "hello");
    assert_eq!(f.ask(remove("docs/far/m2/moved.txt", false)).await, true);
    assert_eq!(f.ask(remove("docs/far/m2/moved.txt", false)).await, false);
    assert_eq!(f.ask(remove("docs/far", true)).await, true);
    assert!(!f.docs().join("far").exists());
}

#[tokio::test]
async fn what_cannot_be_done_has_a_code() {
    let f = fixture();
    std::fs::write(f.docs().join("sub/x"), "x").unwrap();
    fifo(&f.docs().join("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(f.docs().join("socket")).unwrap();
    let rows: Vec<(FilesOp, &str)> = vec![
        (read("docs/none"), "not_found"),
        (read("docs"), "not_a_file"),
        (read("docs/sub"), "not_a_file"),
        (read("docs/a.txt/x"), "not_a_folder"),
        (read("docs/pipe"), "not_a_file"),
        (read("docs/socket"), "not_a_file"),
        (list("docs/none"), "not_found"),
        (list("docs/a.txt"), "not_a_folder"),
        (list("docs/pipe"), "not_a_folder"),
        (FilesOp::List { path: "docs".into(), cursor: Some("zz".into()), limit: None }, "invalid"),
        (FilesOp::Write { path: "docs".into(), append: false }, "not_a_file"),
        (FilesOp::Write { path: "docs/sub".into(), append: false }, "not_a_file"),
        (FilesOp::Write { path: "docs/sub".into(), append: true }, "not_a_file"),
        (FilesOp::Write { path: "docs/a.txt/x".into(), append: false }, "not_a_folder"),
        (FilesOp::Write { path: "docs/pipe".into(), append: false }, "not_a_file"),
        (FilesOp::Write { path: "docs/pipe".into(), append: true }, "not_a_file"),
        (FilesOp::Write { path: "docs/socket".into(), append: true }, "not_a_file"),
        (make("docs/a.txt"), "exists"),
        (make("docs/a.txt/x"), "not_a_folder"),
        (remove("docs/sub", false), "not_empty"),
        (remove("docs", true), "denied"),
        (rename("docs/none", "docs/b"), "not_found"),
        (rename("docs/a.txt", "docs/sub"), "exists"),
        (rename("docs/sub", "docs/sub/inner"), "io"),
        (rename("docs/a.txt", "docs/pipe"), "not_a_file"),
        (rename("docs", "docs/x"), "denied"),
        (rename("docs/a.txt", "private"), "denied"),
        (read("private"), "denied"),
        (read("docsx"), "denied"),
        (read("/etc/hosts"), "denied"),
    ];
    for (op, code) in rows {
        assert_eq!(f.ask(op.clone()).await, format!("! files.{code}"), "{op:?}");
    }
    assert_eq!(f.ask(stat("docs/pipe")).await["kind"], "other");
    let Got::Failed(error) = f.got(read("docs/none"), b"").await else { panic!() };
    assert_eq!((&*error.name, &*error.message), ("NotFoundError", "there is no `docs/none`"));
}

#[tokio::test]
async fn links_lead_nowhere_else() {
    let f = fixture();
    let docs = f.docs();
    symlink("../../outside", docs.join("up")).unwrap();
    symlink(f.root.parent().unwrap().join("outside"), docs.join("absolute")).unwrap();
    symlink("../private", docs.join("file")).unwrap();
    symlink("/proc/self/root", docs.join("magic")).unwrap();
    symlink("a.txt", docs.join("within")).unwrap();
    symlink("sub", docs.join("within_folder")).unwrap();
    symlink("loop", docs.join("loop")).unwrap();
    symlink("nothing", docs.join("dangling")).unwrap();
    let secret = std::fs::read(f.root.join("../outside/secret")).unwrap();
    for link in ["up/secret", "absolute/secret", "file", "magic/etc/hosts", "sub/../up/secret"] {
        let path = format!("docs/{link}");
        let top = format!("docs/{}", link.split('/').next().unwrap());
        let ops = [
            read(&path),
            FilesOp::Write { path: path.clone(), append: false },
            FilesOp::Write { path: path.clone(), append: true },
            FilesOp::Write { path: format!("{path}.new"), append: false },
            remove(&path, true),
            rename(&path, "docs/stolen"),
            rename("docs/a.txt", &path),
            make(&format!("{path}/x")),
        ];
        for op in ops {
            // `file` itself is a link: it can be removed, which takes the link and leaves where it leads.
            if link == "file" && (matches!(op, FilesOp::Remove { .. }) || op.path() == "docs/file.new") {
                continue;
            }
            let said = f.ask_with(op.clone(), b"WRITTEN").await;
            let expected = ["! files.denied", "! files.not_a_file", "! files.exists"];
            assert!(expected.iter().any(|code| said == *code), "{op:?} {said}");
        }
        if link != "sub/../up/secret" {
            assert!(matches!(f.ask(list(&top)).await.as_str(), Some("! files.denied" | "! files.not_a_folder")));
        }
    }
    assert_eq!(std::fs::read(f.root.join("../outside/secret")).unwrap(), secret);
    assert_eq!(std::fs::read(f.root.join("private")).unwrap(), secret);
    assert_eq!(std::fs::read_dir(f.root.join("../outside")).unwrap().count(), 1);
    assert_eq!(f.text("docs/within").await, "hello");
    assert_eq!(f.ask(stat("docs/within")).await["kind"], "file");
    assert_eq!(f.ask(stat("docs/up")).await["kind"], "link");
    assert_eq!(f.ask(stat("docs/dangling")).await["kind"], "link");
    assert_eq!(f.write("docs/within", "x").await, "! files.denied");
    assert_eq!(f.write("docs/dangling", "x").await, "! files.denied");
    assert_eq!(f.write("docs/within_folder/new", "x").await, 1);
    assert_eq!(f.ask(rename("docs/within", "docs/elsewhere")).await, "! files.denied");
    assert_eq!(f.text("docs/loop").await, "! files.denied");
    assert_eq!(f.ask(remove("docs/up", true)).await, true, "the link goes");
    assert!(f.root.join("../outside/secret").exists(), "and what it led to stays");
    assert_eq!(f.ask(remove("docs/magic", true)).await, true);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_swapped_meanwhile_leads_nowhere_else() {
    let f = fixture();
    let (swapped, link) = (f.docs().join("swapped"), f.docs().join("link"));
    std::fs::create_dir(&swapped).unwrap();
    std::fs::write(swapped.join("secret"), "mine").unwrap();
    symlink("../../outside", &link).unwrap();
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let stop = stop.clone();
        move || {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &swapped, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    // On a busy machine the other thread may not get its turn for long: until both of its states were met.
    let both = |seen: &std::collections::BTreeMap<String, usize>| {
        seen.contains_key("\"! files.denied\"") && seen.contains_key("4")
    };
    for round in 0..100_000 {
        if round > 1000 && both(&seen) {
            break;
        }
        let said = match round % 7 {
            0 => f.text("docs/swapped/secret").await,
            1 => f.write("docs/swapped/secret", "mine").await,
            2 => f.append("docs/swapped/new", "").await,
            3 => f.ask(op(json!({ "op": "edit", "path": "docs/swapped/secret", "edits": [{ "old": "E", "new": "e", "replace_all": true }] }))).await,
            4 => f.ask(op(json!({ "op": "read_lines", "path": "docs/swapped/secret" }))).await,
            5 => f.ask(op(json!({ "op": "grep", "path": "docs", "pattern": "SECRET" }))).await,
            _ => f.ask(remove("docs/swapped/secret", false)).await,
        };
        *seen.entry(said.to_string()).or_default() += 1;
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(!seen.keys().any(|said| said.contains("SECRET")), "{seen:?}");
    assert_eq!(std::fs::read_to_string(f.root.join("../outside/secret")).unwrap(), "SECRET");
    assert_eq!(std::fs::read_dir(f.root.join("../outside")).unwrap().count(), 1);
    assert!(both(&seen), "the swapping was seen: {seen:?}");
}

#[tokio::test]
async fn a_relative_grant_stays_below_the_root() {
    let mut f = fixture();
    symlink("../outside", f.root.join("linked")).unwrap();
    symlink("docs", f.root.join("inner")).unwrap();
    f.grant = grant("linked");
    assert_eq!(f.text("linked/secret").await, "! files.denied");
    f.grant = grant("linked/secret");
    assert_eq!(f.text("linked/secret").await, "! files.denied");
    f.grant = grant("inner");
    assert_eq!(f.text("inner/a.txt").await, "hello");
    f.grant = grant(".");
    assert_eq!(f.text("docs/a.txt").await, "hello");
    assert_eq!(f.text("linked/secret").await, "! files.denied");
}

#[tokio::test]
async fn a_grant_can_be_absolute_or_of_one_file() {
    let mut f = fixture();
    let outside = f.root.join("../outside").canonicalize().unwrap();
    let shown = outside.to_str().unwrap();
    f.grant = grant(shown);
    let answer = f.perform(read(&format!("{shown}/secret")), b"").await;
    assert!(matches!(answer, Ok(FilesAnswer::Bytes(bytes)) if bytes == b"SECRET"));
    symlink(outside.join("secret"), f.root.join("link")).unwrap();
    let link = f.root.canonicalize().unwrap().join("link");
    f.grant = grant(link.to_str().unwrap());
    assert!(f.perform(read(link.to_str().unwrap()), b"").await.is_ok(), "the operator's own link");
    f.grant = grant("docs/a.txt");
    assert_eq!(f.text("docs/a.txt").await, "hello");
    assert_eq!(f.text("docs/a.txt/b").await, "! files.not_a_folder");
    assert_eq!(f.text("docs/b.txt").await, "! files.denied");
    assert_eq!(f.write("docs/a.txt", "new").await, 3);
    assert_eq!(f.ask(remove("docs/a.txt", false)).await, true);
    assert_eq!(f.text("docs/a.txt").await, "! files.not_found");
    f.grant = grant("made/by/us");
    assert_eq!(f.ask(list("made/by/us")).await, "! files.not_found");
    assert!(!f.root.join("made").exists(), "looking makes nothing");
    assert_eq!(f.write("made/by/us/a", "x").await, 1);
    f.grant = grant("made/one.txt");
    assert_eq!(f.write("made/one.txt", "x").await, 1);
    f.grant = FilesGrant { access: Access::Read, ..grant("docs") };
    assert_eq!(f.write("docs/z", "x").await, "! files.denied");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_kernels_files_are_no_files() {
    let mut f = fixture();
    f.grant = grant("/");
    for path in
        ["/proc/self/environ", "/proc/self/mem", "/proc/kmsg", "/sys/kernel/uevent_seqnum", "/dev/zero", "/dev/tty"]
    {
        let said = f.text(path).await;
        let fine = ["! files.denied", "! files.not_a_file", "! files.not_found", "! files.io"];
        assert!(fine.iter().any(|code| said == *code), "{path}: {said}");
    }
    assert_eq!(f.text("/proc/self/environ").await, "! files.denied");
    assert_eq!(f.ask(list("/proc/self/fd")).await, "! files.denied");
    f.grant = grant("/proc");
    assert_eq!(f.text("/proc/self/environ").await, "! files.denied");
    f.grant = grant("/proc/self/environ");
    assert_eq!(f.text("/proc/self/environ").await, "! files.denied");
}

#[tokio::test]
async fn a_run_writes_no_more_than_its_quota() {
    let mut f = fixture();
    f.grant.quota_bytes = 10;
    assert_eq!(f.write("docs/a", "123456").await, 6);
    assert_eq!(f.write("docs/b", "12345").await, "! files.quota");
    assert!(!f.docs().join("b").exists());
    assert_eq!(f.write("docs/a.txt/x", "1234").await, "! files.not_a_folder", "what fails is not counted");
    assert_eq!(f.append("docs/a", "1234").await, 10);
    assert_eq!(f.append("docs/a", "1").await, "! files.quota");
    assert_eq!(f.append("docs/a", "").await, 10);
    assert_eq!(f.ask(remove("docs/a", false)).await, true);
    assert_eq!(f.write("docs/a", "1").await, "! files.quota", "what was written counts, not what is there");
    f.grant.path = path_of("docs/sub");
    assert_eq!(f.write("docs/sub/a", "1").await, 1, "another grant counts for itself");
    let Got::Failed(error) = f.got(FilesOp::Write { path: "docs/sub/b".into(), append: false }, b"1234567890").await
    else {
        panic!()
    };
    assert_eq!(error.name, "RangeError");
    assert!(error.message.contains("10 bytes more than the 1") && error.message.contains("10 allowed"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_at_the_same_time_share_one_quota() {
    let mut f = fixture();
    f.grant.quota_bytes = 50;
    let f = std::sync::Arc::new(f);
    let writes = (0..20).map(|n| {
        let f = f.clone();
        tokio::spawn(async move { f.append(&format!("docs/q{n}"), "0123456789").await })
    });
    let mut done = 0;
    for write in writes.collect::<Vec<_>>() {
        done += usize::from(write.await.unwrap() == 10);
    }
    assert_eq!(done, 5);
}

#[tokio::test]
async fn files_have_a_largest_size_and_large_ones_are_streamed() {
    let f = fixture();
    let (most, piece) = (64 << 20, 256 << 10);
    let write = FilesOp::Write { path: "docs/large".into(), append: false };
    assert_eq!(f.ask_with(write.clone(), &vec![0; most + 1]).await, "! files.too_large");
    assert_eq!(f.ask_with(write.clone(), &vec![7; most]).await, most);
    assert_eq!(f.append("docs/large", "x").await, "! files.too_large");
    let Ok(FilesAnswer::Stream(mut body, length)) = f.perform(read("docs/large"), b"").await else { panic!() };
    assert_eq!(length, most as u64);
    let mut total = 0;
    loop {
        let bytes = body.read(usize::MAX).await.unwrap();
        assert!(bytes.len() <= piece && bytes.iter().all(|byte| *byte == 7));
        total += bytes.len();
        if bytes.is_empty() {
            break;
        }
    }
    assert_eq!(total, most);
    f.ask_with(write.clone(), &vec![1; piece]).await;
    assert!(matches!(f.perform(read("docs/large"), b"").await, Ok(FilesAnswer::Bytes(bytes)) if bytes.len() == piece));
    f.ask_with(write, &vec![1; piece + 1]).await;
    let Ok(FilesAnswer::Stream(mut body, _)) = f.perform(read("docs/large"), b"").await else { panic!() };
    std::fs::File::options().write(true).open(f.docs().join("large")).unwrap().set_len(10).unwrap();
    assert_eq!(body.read(100).await.unwrap().len(), 10);
    assert!(body.read(100).await.is_err(), "a file that became shorter is not taken for whole");
}

#[tokio::test]
async fn lists_are_sorted_and_paged() {
    let f = fixture();
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"n\xff");
    std::fs::create_dir(f.docs().join("many")).unwrap();
    for number in (0..1500).rev() {
        std::fs::write(f.docs().join(format!("many/n{number:04}")), "").unwrap();
    }
    std::fs::write(f.docs().join("many").join(odd), "").unwrap();
    std::fs::write(f.docs().join("many/.isolith-unfinished-1"), "").unwrap();
    let (mut names, mut cursor, mut pages) = (Vec::new(), None, Vec::new());
    loop {
        let limit = if pages.is_empty() { Some(3) } else { None };
        let page = f.ask(FilesOp::List { path: "docs/many".into(), cursor: cursor.clone(), limit }).await;
        let entries = page["entries"].as_array().unwrap();
        pages.push(entries.len());
        names.extend(entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()));
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, [3, 1000, 498]);
    let mut expected: Vec<String> = (0..1500).map(|n| format!("n{n:04}")).collect();
    expected.push("n\u{fffd}".into());
    assert_eq!(names, expected);
    assert_eq!(f.text("docs/many/n\u{fffd}").await, "! files.not_found", "shown, and not reached");
}

#[tokio::test]
async fn a_file_is_replaced_whole_and_keeps_its_mode() {
    let f = fixture();
    let path = f.docs().join("run.sh");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4750)).unwrap();
    let mut held = std::fs::File::open(&path).unwrap();
    assert_eq!(f.write("docs/run.sh", "newer").await, 5);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut held, &mut text).unwrap();
    assert_eq!(text, "old", "whoever has the old file open still reads the old file");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    let left: Vec<_> = std::fs::read_dir(f.docs()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with(".isolith")), "{left:?}");
}

#[tokio::test]
async fn folders_that_nest_endlessly_are_not_followed_down() {
    let f = fixture();
    let chain = "d/".repeat(60);
    for part in ["one", "two", "three", "four"] {
        f.ask(make(&format!("docs/{part}/{chain}"))).await;
    }
    for (from, to) in [("three", "four"), ("two", "three"), ("one", "two")] {
        let end = std::iter::repeat_n("d", 60).collect::<Vec<_>>().join("/");
        let said = f.ask(rename(&format!("docs/{to}"), &format!("docs/{from}/{end}/{to}"))).await;
        assert_eq!(said, Value::Null);
    }
    assert_eq!(f.ask(remove("docs/one", true)).await, "! files.io");
    assert_eq!(f.ask(remove(&format!("docs/one/{}two", "d/".repeat(60)), true)).await, true);
    assert_eq!(f.ask(remove("docs/one", true)).await, true);
}

#[tokio::test]
async fn denied_places_have_no_second_name() {
    let mut f = fixture();
    std::fs::create_dir(f.docs().join("sub/secret")).unwrap();
    std::fs::write(f.docs().join("sub/secret/x"), "SECRET").unwrap();
    symlink("sub/secret", f.docs().join("alias")).unwrap();
    assert_eq!(f.text("docs/alias/x").await, "SECRET", "without the rule there is another way in");
    let denied = Grant { power: Power::Files(grant("docs/sub/secret")), rule: Rule::Deny, budgets: Vec::new() };
    let other = Grant::tool(BindingName::new("t").unwrap());
    f.folders = Folders::guarding(f.root.clone(), &[denied, other]);
    let rows: Vec<(FilesOp, Value)> = vec![
        (read("docs/alias/x"), json!("! files.denied")),
        (stat("docs/alias"), json!("! files.denied")),
        (rename("docs/sub", "docs/free"), json!("! files.denied")),
        (remove("docs/sub", true), json!("! files.denied")),
        (rename("docs/a.txt", "docs/sub"), json!("! files.denied")),
        (read("docs/a.txt"), json!("hello")),
        (rename("docs/a.txt", "docs/sub/a.txt"), Value::Null),
    ];
    for (op, expected) in rows {
        assert_eq!(f.ask(op.clone()).await, expected, "{op:?}");
    }
    assert!(f.docs().join("sub/secret/x").exists());
}
