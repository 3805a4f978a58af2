//! Trees into folders of the host, and back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use cap_std::ambient_authority;
use isolith_core::files::{FileTree, Room};
use isolith_core::{FilesError, GuestPath};
use isolith_workspace::archive::{Dir, Progress, export_folder, import_folder};
use isolith_workspace::suite::Desk;
use isolith_workspace::{Memory, Scope};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

fn desk() -> Desk {
    Desk::new(&|room: Room| Arc::new(Memory::new(room)) as Arc<dyn FileTree>)
}

fn into(desk: &Desk, folder: &Path) -> Result<Progress, FilesError> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).unwrap();
    import_folder(&*desk.tree, &Scope::whole(), &GuestPath::root(), &dir, &mut |_| {})
}

fn out(desk: &Desk, folder: &Path) -> Result<Progress, FilesError> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).unwrap();
    export_folder(&*desk.tree, &Scope::whole(), &GuestPath::root(), &dir, &mut |_| {})
}

#[test]
fn a_tree_goes_into_a_folder_and_comes_back() {
    let (before, folder) = (desk(), tempfile::tempdir().unwrap());
    before.write("d/run.sh", "echo");
    before.write("read_only/inner", "x");
    before.link("d/link", "run.sh");
    before.ask(json!({ "op": "set", "path": "d/run.sh", "mode": 0o750, "modified": 1_600_000_000_000u64 }));
    before.ask(json!({ "op": "set", "path": "read_only", "mode": 0o555, "modified": 1_500_000_000_000u64 }));
    assert_eq!(out(&before, folder.path()).unwrap(), Progress { entries: 5, bytes: 5 });
    let found = std::fs::metadata(folder.path().join("d/run.sh")).unwrap();
    assert_eq!(found.permissions().mode() & 0o7777, 0o750);
    assert_eq!(std::fs::read_to_string(folder.path().join("d/link")).unwrap(), "echo");
    let after = desk();
    assert_eq!(into(&after, folder.path()).unwrap(), Progress { entries: 5, bytes: 5 });
    assert_eq!(after.all(), before.all());
    for path in ["d/run.sh", "d/link", "read_only"] {
        let stat = |desk: &Desk| desk.ask(json!({ "op": "stat", "path": path }));
        assert_eq!(stat(&after), stat(&before), "{path}");
    }
    let error = out(&before, folder.path()).unwrap_err();
    assert_eq!(error.code(), "files.exists", "nothing there is overwritten");
    assert!(!error.message("it").contains(folder.path().to_str().unwrap()));
}

#[test]
fn folders_that_are_no_trees_are_refused() {
    type Row = (&'static str, fn(&Path), &'static str);
    let rows: [Row; 6] = [
        ("absolute", |at| symlink("/etc/passwd", at.join("l")).unwrap(), "files.denied"),
        ("up", |at| symlink("../x", at.join("l")).unwrap(), "files.denied"),
        (
            "pipe",
            |at| assert!(std::process::Command::new("mkfifo").arg(at.join("p")).status().unwrap().success()),
            "files.denied",
        ),
        ("socket", |at| drop(std::os::unix::net::UnixListener::bind(at.join("s")).unwrap()), "files.denied"),
        (
            "bytes",
            |at| {
                use std::os::unix::ffi::OsStrExt as _;
                std::fs::write(at.join(std::ffi::OsStr::from_bytes(b"n\xff")), "").unwrap();
            },
            "files.invalid",
        ),
        ("line", |at| std::fs::write(at.join("a\nb"), "").unwrap(), "files.invalid"),
    ];
    for (name, prepare, code) in rows {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fine"), "x").unwrap();
        prepare(folder.path());
        let desk = desk();
        let error = into(&desk, folder.path()).unwrap_err();
        assert_eq!(error.code(), code, "{name}");
        assert!(!error.message("it").contains(folder.path().to_str().unwrap()), "{error}");
        assert_eq!(desk.all(), [""; 0], "{name}");
    }
}
