//! A disk that fails, runs full, writes by half or loses its power under a process that writes: what the process was told is done is
//! there afterwards, and nothing is there by half. The test binary starts itself, with `faults/disk.c` between it and its files.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "faults/load.rs"]
mod everything;
mod load;

use everything::{Expected, Place, Refused, VERBS};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// At how many points the disk fails; `ISOLITH_TEST_FAULTS` says otherwise.
const POINTS: usize = 225;
/// How many processes are at work side by side.
const LANES: usize = 4;
/// How many operations a writer is asked for.
const STEPS: u64 = 80;
/// After how many in a row that fail it gives up.
const FAILURES_MAX: u32 = 20;
/// How many operations one failure of the disk may cost: what it hits, and what cannot be without that.
const FAILURES_OF_ONE_MAX: usize = 3;
/// What the disk ends a process with that has lost its power.
const CUT: i32 = 77;

/// What goes wrong, and whether it stays so.
const FAULTS: [(&str, bool); 9] = [
    ("power", false),
    ("sync", false),
    ("sync", true),
    ("full", false),
    ("full", true),
    ("short", false),
    ("short", true),
    ("broken", false),
    ("broken", true),
];

/// What has to do with files that could not be used, and what follows from them not being there.
const CODES: [&str; 8] = [
    "files.io",
    "kv.io",
    "session.io",
    "store.io",
    "store.key",
    "store.problem",
    "session.exists",
    "session.not_found",
];

/// Why nothing can be written, as it is told; SQLite itself does not say more of a log that it has open.
const REASONS: [&str; 5] = [
    "Read-only file system",
    "has to be writable",
    "cannot be written to by the user",
    "cannot be read or written",
    "disk I/O error",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault {
    what: &'static str,
    lasting: bool,
    at: u64,
    /// Whether the power goes at the end, before anything is closed.
    cut: bool,
    seed: u64,
}

impl Fault {
    const NONE: Fault = Fault { what: "none", lasting: false, at: 0, cut: false, seed: 0 };
}

/// A folder for one writer, and a disk below it.
struct Bench {
    folder: tempfile::TempDir,
    disk: PathBuf,
}

impl Bench {
    fn new(disk: &Path) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::create_dir(folder.path().join("data.lost")).unwrap();
        Bench { folder, disk: disk.to_owned() }
    }

    /// As SQLite names it, without links on the way.
    fn data(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("data")
    }

    fn run(&self, child: &str, fault: Fault) -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([child, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env("LD_PRELOAD", &self.disk).env("ISOLITH_TEST_DATA", self.data());
        command.env("DISK_BELOW", self.data()).env("DISK_FAULT", fault.what).env("DISK_AT", fault.at.to_string());
        command.env("DISK_SEED", fault.seed.to_string()).env("DISK_CALLS", self.folder.path().join("calls"));
        if fault.lasting {
            command.env("DISK_LASTING", "");
        }
        if fault.cut {
            command.env("DISK_CUT", "");
        }
        command.stderr(Stdio::piped()).output().unwrap()
    }

    /// What the disk was asked for, by kinds of calls and files: a kind with one call is as much worth a look as one with thousands.
    fn calls(&self) -> BTreeMap<(String, String), Vec<Call>> {
        let mut kinds = BTreeMap::<_, Vec<Call>>::new();
        for line in std::fs::read_to_string(self.folder.path().join("calls")).unwrap().lines() {
            let [does, of_like, of_all, call, path] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let number = |text: &str| text.parse().unwrap();
            let kind = match Path::new(path).extension() {
                _ if path.contains('#') => "unfinished chunk".into(),
                _ if path.contains("/chunks/") => format!("chunk {}", path.rsplit('/').next().unwrap().len()),
                Some(ending) => ending.to_string_lossy().into_owned(),
                None => "other".into(),
            };
            let call_of = Call { does: number(does), number: number(of_like), of_all: number(of_all) };
            kinds.entry((kind, call.to_owned())).or_default().push(call_of);
        }
        kinds
    }
}

/// A call: what it does, its number among its like, and among all.
#[derive(Clone, Copy)]
struct Call {
    does: u64,
    number: u64,
    of_all: u64,
}

impl Call {
    const GIVES: u64 = 1;
    const WAITS: u64 = 2;

    /// Its number for a fault that can happen to it.
    fn at(self, what: &str) -> Option<u64> {
        match what {
            "power" => Some(self.of_all),
            "sync" => (self.does == Call::WAITS).then_some(self.number),
            "broken" => (self.does != Call::WAITS).then_some(self.number),
            _ => (self.does != Call::WAITS && self.does != Call::GIVES).then_some(self.number),
        }
    }
}

/// The disk, built where it is used.
fn disk(folder: &Path) -> PathBuf {
    let (source, built) = (folder.join("disk.c"), folder.join("disk.so"));
    std::fs::write(&source, include_str!("faults/disk.c")).unwrap();
    let mut command = Command::new("cc");
    command
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&built)
        .arg(&source);
    let out = command.args(["-ldl", "-lpthread"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    built
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n{line}").and_then(|()| out.flush()).unwrap();
}

#[test]
#[ignore = "started by another test"]
fn child_writes_to_the_end() {
    let data = std::env::var_os("ISOLITH_TEST_DATA").unwrap();
    let mut place = match Place::open(Path::new(&data)) {
        Ok(place) => place,
        Err(error) => return say(&format!("failed 0 store.io {error}")),
    };
    let mut failures = 0;
    for number in 0..STEPS {
        say(&format!("asked {number}"));
        match place.step(number) {
            Ok(()) => {
                failures = 0;
                say(&format!("done {number}"));
            }
            Err(Refused(code, why)) => {
                failures += 1;
                say(&format!("failed {number} {code} {}", why.replace('\n', " ")));
            }
        }
        if failures == FAILURES_MAX {
            break;
        }
    }
    if std::env::var_os("DISK_CUT").is_some() {
        // Before anything is closed.
        std::process::exit(0);
    }
}

/// What a writer said: what it was asked for, whether that was acknowledged, and why it was not.
struct Said {
    expected: Expected,
    acknowledged: usize,
    refused: Vec<(String, String)>,
}

fn heard(out: &Output) -> Said {
    let said = String::from_utf8_lossy(&out.stdout);
    let (mut asked, mut refused) = (BTreeMap::new(), Vec::new());
    for line in said.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["asked", number] => drop(asked.insert(number.parse::<u64>().unwrap(), false)),
            ["done", number] => drop(asked.insert(number.parse().unwrap(), true)),
            ["failed", _, code, ..] => refused.push((code.to_owned(), line.to_owned())),
            _ => {}
        }
    }
    let mut expected = Expected::default();
    asked.iter().for_each(|(number, done)| expected.told(*number, *done));
    Said { expected, acknowledged: asked.values().filter(|done| **done).count(), refused }
}

/// Files that nobody will use any more.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let left = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap();
        file.contains("unfinished") || file.contains('#') || file.ends_with(".new") || file.starts_with("key.")
    };
    folders.iter().flat_map(|folder| leftovers(folder)).chain(files.into_iter().filter(left)).collect()
}

/// One point: a disk that fails there, and everything as it was said afterwards.
fn point(disk: &Path, fault: Fault) -> Result<usize, String> {
    let bench = Bench::new(disk);
    let out = bench.run("child_writes_to_the_end", fault);
    let said = heard(&out);
    let errors = || format!("{}\n{}", String::from_utf8_lossy(&out.stderr), String::from_utf8_lossy(&out.stdout));
    let ended = match fault.what {
        "power" => [Some(CUT), Some(0)].contains(&out.status.code()),
        _ => out.status.code() == Some(0),
    };
    if !ended {
        return Err(format!("the writer ended with {}: {}", out.status, errors()));
    }
    if let Some((_, line)) = said.refused.iter().find(|(code, _)| !CODES.contains(&&**code)) {
        return Err(format!("that is not what happened: {line}"));
    }
    if fault.what == "power" && !said.refused.is_empty() {
        return Err(format!("nothing failed: {:?}", said.refused));
    }
    if !fault.lasting && said.refused.len() > FAILURES_OF_ONE_MAX {
        return Err(format!("one failure of the disk, and these: {:?}", said.refused));
    }
    said.expected.check(&bench.data()).map_err(|wrong| format!("{wrong}\n{}", errors()))?;
    let mut left = leftovers(&bench.data());
    // What could not be removed, or not any more, is removed by a sweep. Keys and journals have none.
    let broken = ["power", "broken"].contains(&fault.what);
    left.retain(|path| match path.extension() {
        Some(ending) if ending == "new" => !broken && !fault.cut,
        _ if path.parent() != Some(&bench.data()) => true,
        // One that was not finished may stay when the power goes. A second one of the key that is in use may not.
        _ => !broken && (!fault.cut || std::fs::read(path).ok() == std::fs::read(bench.data().join("key")).ok()),
    });
    if !left.is_empty() {
        return Err(format!("these are left: {left:?}"));
    }
    // It is of use again.
    let mut place = Place::open(&bench.data()).unwrap();
    for number in STEPS..STEPS + 16 {
        match place.step(number) {
            Err(Refused(code, why)) if code != "session.exists" => {
                return Err(format!("{number} cannot be done afterwards: {code} {why}"));
            }
            _ => {}
        }
    }
    Ok(said.acknowledged)
}

/// Every file below a folder but those that SQLite makes anew.
fn bytes_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let made_anew = |path: &PathBuf| path.to_string_lossy().ends_with("-shm");
    let of = |path: PathBuf| match path.is_dir() {
        true => bytes_of(&path),
        false => BTreeMap::from([(path.clone(), std::fs::read(&path).unwrap())]),
    };
    entries.filter(|path| !made_anew(path)).flat_map(of).collect()
}

#[test]
#[ignore = "started by another test"]
fn child_asks_everything_of_a_disk_that_is_only_read() {
    let data = PathBuf::from(std::env::var_os("ISOLITH_TEST_DATA").unwrap());
    let mut place = Place::open(&data).unwrap();
    let opened = std::env::var("DISK_FAULT").unwrap() == "none";
    if opened {
        place.open_all().map_err(|refused| refused.1).unwrap();
        // From now on.
        std::fs::create_dir(data.join("disk is readonly")).unwrap();
    }
    for (verb, perform) in VERBS {
        match perform(&mut place) {
            Ok(()) => say(&format!("done {verb}")),
            Err(Refused(code, why)) => say(&format!("refused {verb}: {code} {why}")),
        }
    }
    match place.look() {
        Ok(()) => say("looked"),
        Err(Refused(code, why)) => say(&format!("not looked: {code} {why}")),
    }
    std::process::exit(0);
}

/// Root may write where the modes of files say that nobody may, so it is the disk that refuses: one that was so all along, and one that
/// became so under a process at work, as Linux does when a disk fails.
#[test]
fn a_disk_that_is_only_read_refuses_every_verb_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = disk(folder.path());
    for fault in [Fault::NONE, Fault { what: "readonly", ..Fault::NONE }] {
        let bench = Bench::new(&disk);
        let mut expected = Expected::default();
        let mut place = Place::open(&bench.data()).unwrap();
        for number in 0..STEPS {
            place.step(number).map_err(|refused| refused.1).unwrap();
            expected.told(number, true);
        }
        place.open_all().map_err(|refused| refused.1).unwrap();
        drop(place);
        let before = bytes_of(&bench.data());
        let out = bench.run("child_asks_everything_of_a_disk_that_is_only_read", fault);
        let said = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{fault:?}: {said}{}", String::from_utf8_lossy(&out.stderr));
        for (verb, _) in VERBS {
            let refused = said.lines().find_map(|line| line.strip_prefix(&format!("refused {verb}: ")));
            let refused = refused.unwrap_or_else(|| panic!("{fault:?}: {verb} has to be refused: {said}"));
            let (code, why) = refused.split_once(' ').unwrap();
            assert!(CODES[..6].contains(&code), "{fault:?}: {verb}: {refused}");
            assert!(REASONS.iter().any(|reason| why.contains(reason)), "{fault:?}: {verb}: {refused}");
        }
        let looked = said.lines().any(|line| line == "looked");
        assert_eq!(looked, fault == Fault::NONE, "who has it open can read still: {said}");
        let mut after = bytes_of(&bench.data());
        // A log that was begun is as good as none.
        after.retain(|path, bytes| {
            before.contains_key(path) || !(bytes.is_empty() && path.to_string_lossy().ends_with("-wal"))
        });
        assert!(before == after, "{fault:?}: {:?} are now {:?}", before.keys(), after.keys());
        expected.check(&bench.data()).unwrap();
    }
}

/// Numbers that are the same each time.
fn scattered(number: u64) -> u64 {
    let mut mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 1
}

#[test]
fn a_disk_that_fails_takes_nothing_that_was_acknowledged_and_leaves_nothing_half() {
    let folder = tempfile::tempdir().unwrap();
    let disk = disk(folder.path());
    let sound = Bench::new(&disk);
    let out = sound.run("child_writes_to_the_end", Fault::NONE);
    let said = heard(&out);
    assert_eq!((said.acknowledged as u64, &said.refused[..]), (STEPS, &[][..]));
    said.expected.check(&sound.data()).unwrap();
    let kinds: Vec<Vec<Call>> = sound.calls().into_values().collect();
    let calls: usize = kinds.iter().map(Vec::len).sum();
    assert!(calls as u64 > 5 * STEPS, "the disk is not asked: {calls}");
    let points = std::env::var("ISOLITH_TEST_FAULTS").map_or(POINTS, |points| points.parse().unwrap());
    let faults: Vec<Fault> = (0..points)
        .map(|point| {
            let ((what, lasting), round) = (FAULTS[point % FAULTS.len()], point / FAULTS.len());
            let kinds: Vec<Vec<u64>> =
                kinds.iter().map(|kind| kind.iter().filter_map(|call| call.at(what)).collect()).collect();
            let kinds: Vec<&Vec<u64>> = kinds.iter().filter(|kind| !kind.is_empty()).collect();
            let (seed, kind) = (scattered(point as u64), kinds[round % kinds.len()]);
            let at = kind[seed as usize % kind.len()];
            Fault { what, lasting, at, cut: scattered(seed).is_multiple_of(2), seed }
        })
        .collect();
    let (next, acknowledged) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let lane = || {
            let mut wrong = Vec::new();
            while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                match point(&disk, *fault) {
                    Ok(many) => _ = acknowledged.fetch_add(many, Ordering::Relaxed),
                    Err(why) => wrong.push(format!("{fault:?}: {why}")),
                }
            }
            wrong
        };
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {points}:\n{}", wrong.len(), wrong.join("\n\n"));
    println!(
        "{points} points of {calls} calls of {} kinds, {} operations acknowledged, none lost",
        kinds.len(),
        acknowledged.into_inner()
    );
}
