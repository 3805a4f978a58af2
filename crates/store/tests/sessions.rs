//! Sessions in a data folder: kept, forked, remembered, swept, and told apart from what is damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::files::Room;
use isolith_core::{
    BindingName, EventEffect, EventRecord, FileTree, FilesReason, GuestPath, HostReply, Json, KvOp, SessionError,
    SessionName, SessionSettings, SessionStore as _, SnapshotsKept, Timestamp, WebhookSettings,
};
use isolith_store::{DataFolder, Sessions};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn name(text: &str) -> SessionName {
    SessionName::new(text).unwrap()
}

fn most(most: u32) -> SnapshotsKept {
    SnapshotsKept { most, age: None }
}

fn path(text: &str) -> GuestPath {
    GuestPath::new(text).unwrap()
}

struct Place {
    folder: tempfile::TempDir,
    sessions: Sessions,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let sessions = DataFolder::open(folder.path()).unwrap().sessions().unwrap();
        Place { folder, sessions }
    }

    fn with(session: &str) -> Place {
        let place = Place::new();
        place.sessions.create(Some(name(session)), SessionSettings::default()).unwrap();
        place
    }

    fn files(&self, session: &str) -> Arc<dyn FileTree> {
        self.sessions.open(&name(session), Room::default()).unwrap().files
    }

    fn file(&self, session: &str) -> PathBuf {
        self.folder.path().join(format!("sessions/{session}.sqlite"))
    }

    fn chunks(&self) -> usize {
        walk(&self.folder.path().join("chunks"))
    }
}

fn walk(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { usize::from(!path.ends_with(".lock")) }).sum()
}

fn put(tree: &dyn FileTree, file: &str, bytes: &[u8]) {
    tree.change("write", &mut |draft| draft.put_file(&path(file), bytes, None)).unwrap();
}

fn get(tree: &dyn FileTree, file: &str) -> Option<Vec<u8>> {
    let mut found = None;
    tree.view(&mut |view| {
        if view.look(&path(file))?.is_some() {
            found = Some(view.bytes(&path(file), 0, u64::MAX)?);
        }
        Ok(())
    })
    .unwrap();
    found
}

/// Bytes that no two chunks have in common.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |state: &mut u64| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 24) as u8
    };
    (0..bytes).map(|_| next(&mut state)).collect()
}

#[test]
fn files_keys_and_settings_are_there_when_it_is_opened_again() {
    let place = Place::new();
    let settings = SessionSettings { sleep_after_s: Some(5), ..SessionSettings::default() };
    place.sessions.create(Some(name("a")), settings.clone()).unwrap();
    let open = place.sessions.open(&name("a"), Room::default()).unwrap();
    let large = noise(1, 3 << 20);
    put(&*open.files, "small", b"hello");
    put(&*open.files, "large", &large);
    let op = KvOp::Put { key: "k".into(), value: Json::of(&1).unwrap(), ttl_ms: None, metadata: None, expect: None };
    let space = || BindingName::new("session").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(open.keys.perform(space(), 1 << 20, op, Timestamp::default()));
    drop(open);
    let again = DataFolder::open(place.folder.path()).unwrap().sessions().unwrap();
    assert_eq!(again.get(&name("a")).unwrap().unwrap().settings, settings);
    let open = again.open(&name("a"), Room::default()).unwrap();
    assert_eq!(get(&*open.files, "small").unwrap(), b"hello");
    assert_eq!(get(&*open.files, "large").unwrap(), large);
    let got = KvOp::Get { keys: vec!["k".into()] };
    match runtime.block_on(open.keys.perform(space(), 1 << 20, got, Timestamp::default())) {
        HostReply::Value { json: Some(json) } => assert!(json.text().contains("\"value\":1"), "{}", json.text()),
        other => panic!("{other:?}"),
    }
    let mut range = Vec::new();
    open.files
        .view(&mut |view| {
            range = view.bytes(&path("large"), 1_000_000, 1_500_000)?;
            Ok(())
        })
        .unwrap();
    assert_eq!(range, large[1_000_000..2_500_000], "across chunks");
}

#[test]
fn a_fork_and_its_origin_go_their_own_ways_and_share_what_they_have_in_common() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "large", &noise(7, 4 << 20));
    let chunks = place.chunks();
    let fork = place.sessions.fork(&name("a"), None, Some(name("b"))).unwrap();
    assert_eq!(fork.origin.as_deref(), Some("a"));
    assert_eq!(place.chunks(), chunks, "nothing was copied");
    put(&*place.files("b"), "new", b"b");
    put(&*tree, "new", b"a");
    assert_eq!(get(&*place.files("b"), "new").unwrap(), b"b");
    assert_eq!(get(&*tree, "new").unwrap(), b"a");
    drop(tree);
    assert!(place.sessions.remove(&name("a")).unwrap());
    assert_eq!(place.sessions.sweep().unwrap(), 0, "the fork has them still");
    assert_eq!(get(&*place.files("b"), "large").unwrap(), noise(7, 4 << 20));
    assert!(place.sessions.remove(&name("b")).unwrap());
    assert_eq!(place.sessions.sweep().unwrap(), 4 << 20);
    assert_eq!(place.chunks(), 0);
    let never_used = place.sessions.create(Some(name("empty")), SessionSettings::default()).unwrap();
    place.sessions.fork(&never_used.session, None, Some(name("empty2"))).unwrap();
    assert_eq!(place.files("empty2").used().unwrap().0.files, 0);
}

#[test]
fn a_snapshot_is_how_it_was_and_only_so_many_are_kept() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "f", b"one");
    place.sessions.snapshot(&name("a"), Some(name("first")), most(2)).unwrap();
    put(&*tree, "f", b"two");
    let again = place.sessions.snapshot(&name("a"), Some(name("first")), most(2));
    assert!(matches!(again, Err(SessionError::Exists { .. })), "{again:?}");
    let restored = place.sessions.fork(&name("a"), Some(&name("first")), None).unwrap();
    assert!(restored.session.as_str().starts_with("a-restored-"), "{}", restored.session);
    assert_eq!(get(&*place.files(restored.session.as_str()), "f").unwrap(), b"one");
    assert_eq!(get(&*tree, "f").unwrap(), b"two", "restoring changes nothing in place");
    for snapshot in ["second", "third"] {
        place.sessions.snapshot(&name("a"), Some(name(snapshot)), most(2)).unwrap();
    }
    let kept: Vec<String> =
        place.sessions.snapshots(&name("a")).unwrap().into_iter().map(|kept| kept.snapshot.to_string()).collect();
    assert_eq!(kept, ["second", "third"]);
    assert!(!place.folder.path().join("sessions/a@first.sqlite").exists());
    let gone = place.sessions.fork(&name("a"), Some(&name("first")), None);
    assert!(matches!(gone, Err(SessionError::NotFound { what: "snapshot", .. })), "{gone:?}");
    let foreign = place.sessions.fork(&restored.session, Some(&name("second")), None);
    assert!(matches!(foreign, Err(SessionError::NotFound { what: "snapshot", .. })), "of another session: {foreign:?}");
}

/// The snapshots of a session, and how many files of them there are.
fn kept(place: &Place, session: &str) -> (Vec<String>, usize) {
    let snapshots = place.sessions.snapshots(&name(session)).unwrap();
    let files = std::fs::read_dir(place.folder.path().join("sessions")).unwrap();
    let files = files.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().contains('@'));
    (snapshots.into_iter().map(|kept| kept.snapshot.to_string()).collect(), files.count())
}

/// Has it be so long ago that a snapshot was taken.
fn age(place: &Place, snapshot: &str, age: Duration) {
    let db = rusqlite::Connection::open(place.folder.path().join("sessions.sqlite")).unwrap();
    let sql = "UPDATE snapshots SET created_us = created_us - ?2 WHERE snapshot = ?1";
    assert_eq!(db.execute(sql, (snapshot, age.as_micros() as i64)).unwrap(), 1);
}

#[test]
fn a_snapshot_that_is_too_old_is_forgotten_when_one_is_taken_and_by_a_sweep() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let place = Place::new();
    let agent = SessionSettings { snapshots_kept_s: Some(30 * DAY.as_secs()), ..SessionSettings::default() };
    place.sessions.put_agent(&name("careful"), "", agent).unwrap();
    let of_agent = SessionSettings { agent: Some(name("careful")), ..SessionSettings::default() };
    place.sessions.create(Some(name("a")), of_agent).unwrap();
    place.sessions.create(Some(name("b")), SessionSettings::default()).unwrap();
    put(&*place.files("a"), "f", b"one");
    put(&*place.files("b"), "f", b"one");
    let settings = place.sessions.wake(&name("a")).unwrap().settings;
    assert_eq!(settings.snapshots(), SnapshotsKept { most: 32, age: Some(30 * DAY) });
    let take = |session: &str, snapshot: &str, kept: SnapshotsKept| {
        place.sessions.snapshot(&name(session), Some(name(snapshot)), kept).unwrap();
    };
    for snapshot in ["first", "second", "third"] {
        take("a", snapshot, settings.snapshots());
    }
    take("b", "old", SessionSettings::default().snapshots());
    age(&place, "old", 1_000 * DAY);
    age(&place, "first", 31 * DAY);
    age(&place, "second", 29 * DAY);
    assert_eq!(kept(&place, "a"), (vec!["first".into(), "second".into(), "third".into()], 4), "until one is taken");
    take("a", "fourth", settings.snapshots());
    assert_eq!(kept(&place, "a"), (vec!["second".into(), "third".into(), "fourth".into()], 4));
    take("a", "fifth", SnapshotsKept { most: 3, age: settings.snapshots().age });
    assert_eq!(kept(&place, "a").0, ["third", "fourth", "fifth"], "or when there are too many");
    age(&place, "third", 31 * DAY);
    age(&place, "fifth", 31 * DAY);
    place.sessions.sweep().unwrap();
    assert_eq!(kept(&place, "a"), (vec!["fourth".into()], 2));
    assert_eq!(kept(&place, "b").0, ["old"], "where nothing is said they stay");
}

#[test]
fn what_is_left_of_a_session_is_nobody_elses() {
    let place = Place::with("a");
    put(&*place.files("a"), "f", b"old");
    let (file, beside) = (std::fs::read(place.file("a")).unwrap(), place.file("a").with_extension("sqlite-journal"));
    assert!(place.sessions.remove(&name("a")).unwrap());
    // As after a crash.
    std::fs::write(place.file("a"), &file).unwrap();
    std::fs::write(&beside, b"x").unwrap();
    place.sessions.create(Some(name("a")), SessionSettings::default()).unwrap();
    assert!(!beside.exists());
    assert_eq!(get(&*place.files("a"), "f"), None);
    std::fs::write(place.folder.path().join("sessions/a.unfinished"), &file).unwrap();
    std::fs::write(place.folder.path().join("sessions/b.sqlite-wal"), &file).unwrap();
    std::fs::write(place.folder.path().join("sessions/Not ours.unfinished"), &file).unwrap();
    place.sessions.sweep().unwrap();
    let left = std::fs::read_dir(place.folder.path().join("sessions")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.retain(|file| !file.starts_with("a.sqlite"));
    assert_eq!(left, ["Not ours.unfinished"]);
}

#[test]
fn what_was_changed_can_be_looked_at_and_taken_back() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "f", b"one");
    put(&*tree, "f", b"two");
    tree.change("reorder", &mut |draft| {
        draft.put_folder(&path("d"))?;
        draft.rename(&path("f"), &path("d/f"))
    })
    .unwrap();
    tree.change("remove", &mut |draft| draft.remove(&path("d"))).unwrap();
    assert_eq!(get(&*tree, "d/f"), None);
    let words: Vec<(u64, String, String, u64)> = tree
        .history(&path("."), 10)
        .unwrap()
        .into_iter()
        .map(|change| (change.version, change.what, change.path, change.size))
        .collect();
    let row = |version, what: &str, path: &str, size| (version, what.to_owned(), path.to_owned(), size);
    let expected = [
        row(4, "remove", "d", 0),
        row(4, "remove", "d/f", 0),
        row(3, "reorder", "d", 0),
        row(3, "reorder", "d/f", 3),
        row(3, "reorder", "f", 0),
        row(2, "write", "f", 3),
        row(1, "write", "f", 3),
    ];
    assert_eq!(words, expected);
    assert_eq!(tree.earlier(&path("f"), 1).unwrap().unwrap(), b"one");
    assert_eq!(tree.earlier(&path("d/f"), 3).unwrap().unwrap(), b"two");
    assert_eq!(tree.earlier(&path("f"), 3).unwrap(), None);
    assert_eq!(tree.undo(None).unwrap(), (4, vec!["d".into(), "d/f".into()]));
    assert_eq!(get(&*tree, "d/f").unwrap(), b"two");
    assert_eq!(tree.undo(Some(2)).unwrap().0, 2);
    assert_eq!(get(&*tree, "f").unwrap(), b"one");
    assert_eq!(get(&*tree, "d"), None);
    let (used, _) = tree.used().unwrap();
    assert_eq!((used.bytes, used.files), (3, 1));
    assert_eq!(tree.undo(None).unwrap().0, 6, "taking back is a change as well");
    assert_eq!(get(&*tree, "d/f").unwrap(), b"two");
    assert!(tree.undo(Some(99)).is_err());
}

#[test]
fn history_has_an_end_and_its_contents_go_with_it() {
    let place = Place::with("a");
    let tree = place.files("a");
    for number in 0..1_100u32 {
        put(&*tree, "f", &number.to_le_bytes());
    }
    let all = tree.history(&path("f"), 10_000).unwrap();
    assert_eq!(all.len(), 1_000);
    assert!(tree.undo(Some(5)).unwrap_err().to_string().contains("101 to 1100 are kept"));
    let db = rusqlite::Connection::open(place.file("a")).unwrap();
    let contents: i64 = db.query_row("SELECT count(*) FROM contents", [], |row| row.get(0)).unwrap();
    assert_eq!(contents, 1_001, "each version's, and nothing else");
}

#[test]
fn appending_to_a_large_file_keeps_what_was_there() {
    let place = Place::with("a");
    let tree = place.files("a");
    let mut whole = noise(3, 5 << 20);
    put(&*tree, "f", &whole);
    let before = place.chunks();
    for part in 0..5u64 {
        let more = noise(100 + part, 300_000);
        tree.change("append", &mut |draft| draft.append(&path("f"), &more)).unwrap();
        whole.extend(more);
    }
    assert_eq!(get(&*tree, "f").unwrap(), whole);
    assert!(place.chunks() - before <= 20, "only what is at the end is written again: {}", place.chunks() - before);
    put(&*tree, "copy", &whole);
    let chunks = place.chunks();
    let mut found = Vec::new();
    tree.view(&mut |view| {
        view.walk(&path("."), &mut |_, node| {
            found.push(node.content.clone());
            Ok(ControlFlow::Continue(()))
        })
    })
    .unwrap();
    assert_eq!(found[0], found[1], "the same bytes are cut the same way, however they came to be");
    assert_eq!(place.chunks(), chunks);
}

#[test]
fn a_session_that_was_removed_takes_no_more_writes() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "f", b"x");
    assert!(place.sessions.remove(&name("a")).unwrap());
    let late = tree.change("write", &mut |draft| draft.put_file(&path("g"), b"y", None));
    assert!(late.unwrap_err().to_string().contains("was removed"));
    place.sessions.create(Some(name("a")), SessionSettings::default()).unwrap();
    let late = tree.change("write", &mut |draft| draft.put_file(&path("g"), b"y", None));
    assert!(late.is_err(), "one of the same name is another session");
    assert_eq!(get(&*place.files("a"), "f"), None);
}

#[test]
fn damage_is_told_and_stays_where_it_is() {
    let place = Place::with("a");
    place.sessions.create(Some(name("b")), SessionSettings::default()).unwrap();
    let tree = place.files("a");
    put(&*tree, "large", &noise(9, 1 << 20));
    put(&*tree, "small", b"some text that can be found in the file again");
    put(&*place.files("b"), "f", b"fine");
    drop(tree);
    // A bit of a chunk.
    let folder = std::fs::read_dir(place.folder.path().join("chunks")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folder.into_iter().find(|path| path.is_dir()).unwrap();
    let chunk = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    flip(&chunk, 5_000);
    // A bit of what is in the database.
    let bytes = std::fs::read(place.file("a")).unwrap();
    let at = bytes.windows(9).position(|window| window == b"some text").unwrap();
    flip(&place.file("a"), at + 20);
    let tree = place.files("a");
    for file in ["large", "small"] {
        let read = tree.view(&mut |view| view.bytes(&path(file), 0, u64::MAX).map(|_| ()));
        assert_eq!(read.unwrap_err().reason, FilesReason::Damaged, "{file}");
    }
    drop(tree);
    flip(&place.file("a"), 3);
    let open = place.sessions.open(&name("a"), Room::default()).err().unwrap();
    assert!(matches!(open, SessionError::Damaged(_)), "{open}");
    assert_eq!(get(&*place.files("b"), "f").unwrap(), b"fine", "others are not touched");
}

fn flip(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at] ^= 0x40;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn one_of_a_newer_version_is_refused_and_left_as_it_is() {
    let place = Place::with("a");
    put(&*place.files("a"), "f", b"x");
    let db = rusqlite::Connection::open(place.file("a")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let open = place.sessions.open(&name("a"), Room::default()).err().unwrap();
    assert!(open.to_string().contains("newer isolith"), "{open}");
}

#[test]
fn where_there_is_no_room_nothing_is_half() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "f", b"before");
    let room = Room { bytes: 10, files: 3, file_bytes: 8 };
    drop(tree);
    let tree = place.sessions.open(&name("a"), room).unwrap().files;
    for (files, code) in [
        (&[("g", &b"123"[..]), ("h", b"12")][..], "files.quota"),
        (&[("g", &b"1"[..]), ("h", b"1"), ("i", b"1")][..], "files.quota"),
        (&[("g", &b"123456789"[..])][..], "files.too_large"),
    ] {
        let written = tree.change("write", &mut |draft| {
            files.iter().try_for_each(|(file, bytes)| draft.put_file(&path(file), bytes, None))
        });
        assert_eq!(written.unwrap_err().code(), code);
        assert_eq!(get(&*tree, "g"), None, "none of what was to be written together");
    }
    put(&*tree, "f", b"x");
    put(&*tree, "g", b"123456");
    assert_eq!(tree.used().unwrap().0.bytes, 7, "what is replaced gives its room back");
}

#[test]
fn names_are_names_and_agents_and_webhooks_are_kept() {
    let place = Place::with("a");
    for bad in ["", "A", "-a", "../a", "a/b", "a.b", "a\0", &"x".repeat(101), "a@b"] {
        assert!(SessionName::new(bad).is_err(), "{bad:?}");
    }
    let exists = place.sessions.create(Some(name("a")), SessionSettings::default());
    assert!(matches!(exists, Err(SessionError::Exists { .. })), "{exists:?}");
    let of_agent = SessionSettings { agent: Some(name("helper")), ..SessionSettings::default() };
    let unknown = place.sessions.create(None, of_agent.clone());
    assert!(matches!(unknown, Err(SessionError::NotFound { what: "agent", .. })), "{unknown:?}");
    let room = Room { files: 7, ..Room::default() };
    let settings = SessionSettings { room: Some(room), ..SessionSettings::default() };
    place.sessions.put_agent(&name("helper"), "helps", settings).unwrap();
    let made = place.sessions.create(None, of_agent).unwrap();
    assert_eq!(place.sessions.wake(&made.session).unwrap().settings.room, Some(room), "the agent's room");
    assert_eq!(place.sessions.list(Some(&name("helper")), None, 10).unwrap().len(), 1);
    assert!(place.sessions.remove_agent(&name("helper")).is_err(), "it has a session");
    let settings = WebhookSettings { session: Some(name("a")), ..WebhookSettings::default() };
    place.sessions.put_webhook(&name("hook"), settings).unwrap();
    let event = |id: &str| EventRecord { id: id.into(), at: Timestamp::default(), body: Json::null(), effect: None };
    assert_eq!(place.sessions.add_event(&name("hook"), &event("1")).unwrap(), None);
    let effect = EventEffect { session: Some(name("a")), run: None, error: None };
    place.sessions.set_effect(&name("hook"), "1", &effect).unwrap();
    let known = place.sessions.add_event(&name("hook"), &event("1")).unwrap();
    assert_eq!(known.unwrap().effect, Some(effect), "one that comes again is known");
    for id in 2..1_100 {
        place.sessions.add_event(&name("hook"), &event(&id.to_string())).unwrap();
    }
    assert_eq!(place.sessions.events(&name("hook"), usize::MAX).unwrap().len(), 1_000);
    assert!(place.sessions.remove_webhook(&name("hook")).unwrap());
}

#[test]
fn pages_of_sessions_follow_each_other() {
    let place = Place::new();
    for number in 0..25 {
        place.sessions.create(Some(name(&format!("s{number:02}"))), SessionSettings::default()).unwrap();
    }
    let mut all = Vec::new();
    let mut after: Option<SessionName> = None;
    loop {
        let page = place.sessions.list(None, after.as_ref(), 10).unwrap();
        after = page.last().map(|last| last.session.clone());
        all.extend(page.iter().map(|record| record.session.to_string()));
        if page.len() < 10 {
            break;
        }
    }
    assert_eq!(all, (0..25).map(|number| format!("s{number:02}")).collect::<Vec<_>>());
}

#[test]
fn a_backup_is_taken_while_someone_writes_and_is_a_data_folder() {
    let place = Place::with("a");
    let tree = place.files("a");
    put(&*tree, "large", &noise(5, 1 << 20));
    let (stop, writer) = (Arc::new(std::sync::atomic::AtomicBool::new(false)), Arc::clone(&tree));
    let (stopped, relaxed) = (Arc::clone(&stop), std::sync::atomic::Ordering::Relaxed);
    let writing = std::thread::spawn(move || {
        let mut number = 0u64;
        while !stopped.load(relaxed) {
            number += 1;
            let bytes = noise(number, 60_000);
            let pair = writer.change("write", &mut |draft| {
                draft.put_file(&path("one"), &bytes, None)?;
                draft.put_file(&path("two"), &bytes, None)
            });
            pair.unwrap();
        }
        number
    });
    let target = tempfile::tempdir().unwrap();
    let data = DataFolder::open(place.folder.path()).unwrap();
    for round in 0..5 {
        let to = target.path().join(round.to_string());
        assert!(data.backup(&to, &mut |_| {}).unwrap().files > 2);
        let copy = DataFolder::open(&to).unwrap().sessions().unwrap();
        let tree = copy.open(&name("a"), Room::default()).unwrap().files;
        assert_eq!(get(&*tree, "large").unwrap(), noise(5, 1 << 20));
        assert_eq!(get(&*tree, "one"), get(&*tree, "two"), "of one moment");
    }
    stop.store(true, relaxed);
    assert!(writing.join().unwrap() > 0);
    assert!(data.backup(&target.path().join("0"), &mut |_| {}).is_err(), "it is not empty");
}
