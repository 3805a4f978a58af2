//! A process that writes to a session and is killed, over and over: what it was told is done is there, and nothing is there by half.
//! The test binary starts itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod load;

use isolith_core::files::Room;
use isolith_core::{FileTree, SessionName, SessionSettings, SessionStore as _};
use isolith_store::DataFolder;
use load::{Model, contents, expect, perform};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// How often the writer is killed.
const KILLS: u32 = 1_000;
/// How many are at work side by side, each on a session and in a folder of its own.
const LANES: u32 = 4;
/// A writer is killed at a moment within this after its first write.
const LIFE_US_MAX: u64 = 20_000;

fn open(data: &Path) -> Arc<dyn FileTree> {
    let sessions = DataFolder::open(data).unwrap().sessions().unwrap();
    sessions.open(&SessionName::new("killed").unwrap(), Room::default()).unwrap().files
}

#[test]
#[ignore = "started by another test"]
fn child_writes_until_killed() {
    let tree = open(Path::new(&std::env::var_os("ISOLITH_TEST_DATA").unwrap()));
    let first: u64 = std::env::var("ISOLITH_TEST_FIRST").unwrap().parse().unwrap();
    for number in first.. {
        perform(&*tree, number).unwrap();
        println!("\ndone {number}");
        std::io::stdout().flush().unwrap();
    }
}

fn start(data: &Path, first: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child_writes_until_killed", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("ISOLITH_TEST_DATA", data).env("ISOLITH_TEST_FIRST", first.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Kills a writer at some moment and gives the number of the operation that was acknowledged last.
fn kill_one(data: &Path, first: u64, life: Duration) -> Option<u64> {
    let mut child = start(data, first);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut last = lines.find_map(|line| line.strip_prefix("done ").map(|done| done.parse().unwrap()));
    assert!(last.is_some(), "the writer did not come to write anything");
    std::thread::sleep(life);
    child.kill().unwrap();
    // What it had said before it died is in the pipe still.
    for line in lines {
        if let Some(done) = line.strip_prefix("done ").and_then(|done| done.parse().ok()) {
            last = Some(done);
        }
    }
    child.wait().unwrap();
    last
}

fn lane(kills: u32) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let sessions = DataFolder::open(folder.path()).unwrap().sessions().unwrap();
    sessions.create(Some(SessionName::new("killed").unwrap()), SessionSettings::default()).unwrap();
    drop(sessions);
    let (mut model, mut next) = (Model::new(), 1);
    for kill in 0..kills {
        let life = Duration::from_micros(RandomState::new().hash_one(kill) % LIFE_US_MAX);
        let last = kill_one(folder.path(), next, life).unwrap();
        (next..=last).for_each(|number| expect(&mut model, number));
        next = last + 1;
        let tree = open(folder.path());
        let found = contents(&*tree).unwrap();
        if found != model {
            // The one that was under way may have been done, whole, without anyone having been told.
            expect(&mut model, next);
            next += 1;
        }
        let differs: Vec<&String> =
            model.keys().chain(found.keys()).filter(|key| model.get(*key) != found.get(*key)).collect();
        assert!(
            differs.is_empty(),
            "after kill {kill} and operation {last} these are neither as before nor as after: {differs:?}"
        );
        let (used, _) = tree.used().unwrap();
        assert_eq!(
            used.bytes,
            model.values().map(|bytes| bytes.len() as u64).sum::<u64>(),
            "the bytes are counted wrongly"
        );
    }
    for (file, sound) in DataFolder::open(folder.path()).unwrap().check() {
        sound.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    next - 1
}

#[test]
#[ignore = "started by another test"]
fn child_writes_until_there_is_no_room() {
    let tree = open(Path::new(&std::env::var_os("ISOLITH_TEST_DATA").unwrap()));
    for number in 1..10_000 {
        match perform(&*tree, number) {
            Ok(()) => println!("\ndone {number}"),
            Err(error) => {
                println!("\nfailed {number} {} {error}", error.code());
                return;
            }
        }
    }
}

/// A process that may write no more than so many bytes to a file, which is what a full disk does to it: a write is cut short, and the next
/// one fails.
#[test]
fn a_disk_that_is_full_is_told_and_leaves_nothing_half() {
    for blocks in [300, 500, 777, 2_000, 6_000] {
        let folder = tempfile::tempdir().unwrap();
        let sessions = DataFolder::open(folder.path()).unwrap().sessions().unwrap();
        sessions.create(Some(SessionName::new("killed").unwrap()), SessionSettings::default()).unwrap();
        perform(&*open(folder.path()), 0).unwrap();
        drop(sessions);
        let mut command = Command::new("sh");
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        command.args(["-c", &limited, "sh"]).arg(std::env::current_exe().unwrap());
        command.args([
            "child_writes_until_there_is_no_room",
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        let out = command.env("ISOLITH_TEST_DATA", folder.path()).output().unwrap();
        let said = String::from_utf8(out.stdout).unwrap();
        let last = said.lines().filter_map(|line| line.strip_prefix("done ")).next_back();
        let last: u64 = last.map_or(0, |last| last.parse().unwrap());
        let failed = said.lines().find_map(|line| line.strip_prefix("failed "));
        let failed = failed.unwrap_or_else(|| panic!("{blocks}: it has to fail at some point: {said}"));
        assert!(failed.contains("files.io"), "{blocks}: {failed}");
        let mut model = Model::new();
        (0..=last).for_each(|number| expect(&mut model, number));
        assert_eq!(contents(&*open(folder.path())).unwrap(), model, "{blocks}: after operation {last}");
        perform(&*open(folder.path()), last + 1).unwrap();
    }
}

#[test]
fn a_thousand_kills_lose_nothing_that_was_acknowledged() {
    let lanes: Vec<_> = (0..LANES).map(|_| std::thread::spawn(|| lane(KILLS / LANES))).collect();
    let operations: u64 = lanes.into_iter().map(|lane| lane.join().unwrap()).sum();
    println!("{KILLS} kills, {operations} operations, none lost");
}
