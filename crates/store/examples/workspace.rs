//! A tree of 5,000 files: written, read, edited and searched, in a session, in memory and in a plain folder, one after the other.
//! `cargo run --release -p isolith-store --example workspace` prints lines of JSON; `benches/workspace/run` adds a peer and makes a table.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is run by hand and prints what it found")]

use isolith_core::files::{FileTree, Room, TextEdit};
use isolith_core::{FilesOp, GuestPath, SessionSettings, SessionStore as _};
use isolith_store::DataFolder;
use isolith_workspace::{Answer, Memory, Scope, whole};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

const FILES: usize = 5_000;
const FOLDERS: usize = 50;
/// Of what waits for the disk each time, fewer.
const SINGLY: usize = 500;

fn name(n: usize) -> String {
    format!("d{}/f{n}.txt", n % FOLDERS)
}

fn text(n: usize) -> String {
    let mut text = format!("file {n}\n");
    for line in 0..20 {
        text.push_str(&format!("line {line} of file {n}: some words to look through\n"));
    }
    text
}

/// Does something so many times, and prints how long one takes.
fn measure(who: &str, what: &str, times: usize, mut work: impl FnMut(usize)) {
    let started = Instant::now();
    (0..times).for_each(&mut work);
    let each = started.elapsed().as_secs_f64() * 1e6 / times as f64;
    println!("{{\"who\":\"{who}\",\"what\":\"{what}\",\"us\":{each:.2}}}");
}

fn main() {
    let place = tempfile::tempdir_in(".").unwrap();
    let sessions = DataFolder::open(place.path().join("data")).unwrap().sessions().unwrap();
    let made = sessions.create(None, SessionSettings::default()).unwrap();
    tree("session", &*sessions.open(&made.session, Room::default()).unwrap().files);
    tree("memory", &Memory::new(Room::default()));
    folder(&place.path().join("plain"));
}

fn tree(who: &str, tree: &dyn FileTree) {
    let scope = Scope::whole();
    let perform = |op: &FilesOp, bytes: &[u8]| whole(tree, &scope, op, bytes).unwrap();
    let path = |text: &str| GuestPath::new(text).unwrap();
    measure(who, "write 5,000", 1, |_| {
        tree.change("fill", &mut |draft| {
            (0..FOLDERS).try_for_each(|n| draft.put_folder(&path(&format!("d{n}"))))?;
            (0..FILES).try_for_each(|n| draft.put_file(&path(&name(n)), text(n).as_bytes(), None))
        })
        .unwrap();
    });
    measure(who, "write, on disk", SINGLY, |n| {
        perform(&FilesOp::Write { path: name(n), append: false }, text(n + 1).as_bytes());
    });
    measure(who, "read", FILES, |n| match perform(&FilesOp::read(name(n)), &[]) {
        Answer::Bytes(bytes) => assert!(bytes.len() > 900),
        Answer::Value(value) => assert!(value.is_null(), "{value}"),
    });
    measure(who, "edit, on disk", SINGLY, |n| {
        let edits = vec![TextEdit { old: "line 7 of".into(), new: "LINE 7 of".into(), replace_all: false }];
        perform(&FilesOp::Edit { path: name(n), edits }, &[]);
    });
    measure(who, "grep 5,000", 10, |_| {
        let grep = FilesOp::Grep {
            path: ".".into(),
            pattern: "file 49[0-9]{2}$".into(),
            literal: false,
            ignore_case: false,
            include: Vec::new(),
            ignore: false,
            context: 0,
            limit: None,
        };
        let Answer::Value(found) = perform(&grep, &[]) else { return };
        assert_eq!(found["matches"].as_array().unwrap().len(), 100);
    });
}

/// The same with nothing around the system's own calls.
fn folder(root: &Path) {
    let who = "folder";
    let put = |n: usize, text: &str, sync: bool| {
        let mut file = std::fs::File::create(root.join(name(n))).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        if sync {
            file.sync_all().unwrap();
        }
    };
    measure(who, "write 5,000", 1, |_| {
        (0..FOLDERS).for_each(|n| std::fs::create_dir_all(root.join(format!("d{n}"))).unwrap());
        (0..FILES).for_each(|n| put(n, &text(n), false));
    });
    measure(who, "write, on disk", SINGLY, |n| put(n, &text(n + 1), true));
    measure(who, "read", FILES, |n| assert!(std::fs::read(root.join(name(n))).unwrap().len() > 900));
    measure(who, "edit, on disk", SINGLY, |n| {
        let text = std::fs::read_to_string(root.join(name(n))).unwrap();
        put(n, &text.replacen("line 7 of", "LINE 7 of", 1), true);
    });
    measure(who, "grep 5,000", 10, |_| {
        let mut found = 0;
        for n in 0..FILES {
            let text = std::fs::read_to_string(root.join(name(n))).unwrap();
            let fits = |line: &&str| {
                line.rsplit_once("file 49")
                    .is_some_and(|(_, rest)| rest.len() == 2 && rest.bytes().all(|b| b.is_ascii_digit()))
            };
            found += text.lines().filter(fits).count();
        }
        assert_eq!(found, 100);
    });
}
