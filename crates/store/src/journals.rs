//! Journals of runs: for each run a file of lines, each with the checksum of everything up to it.

use crate::{StoreError, folder};
use isolith_core::{Digest, JournalStore, Mark, OpenJournal, Recorder, RunId, StoreProblem};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

// THREAT[T-REPLAY-004]: a program that asks without end would fill the disk with its journal.
/// The most that one journal may be.
pub const JOURNAL_BYTES_MAX: u64 = 256 << 20;
/// How many hex digits of its checksum a line begins with.
const SUM_CHARS: usize = 16;
/// The longest name of a run with a journal.
const NAME_CHARS_MAX: usize = 64;
const ENDING: &str = "jsonl";
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The journals in a data folder.
#[derive(Clone, Debug)]
pub struct Journals {
    folder: PathBuf,
}

/// A journal as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Its records, in order.
    pub records: Vec<String>,
    /// Whether the last one was cut off, and left out: the process that wrote it was stopped.
    pub torn: bool,
}

/// A journal that is being written. No other process can write to it meanwhile.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    end: Mark,
    /// Where it ended when the disk was last waited for.
    synced: Mark,
    /// Whether its folder may not know of it yet, should the machine stop.
    new: bool,
    /// Why records that were appended are not there any more.
    broken: Option<StoreProblem>,
}

impl Journals {
    pub(crate) fn open(folder: PathBuf) -> Result<Journals, StoreError> {
        folder::make(&folder).map_err(|source| StoreError::Folder { path: folder.clone(), source })?;
        Ok(Journals { folder })
    }

    /// Begins the journal of a run that has none.
    pub fn create(&self, run: &RunId) -> Result<JournalFile, StoreError> {
        let path = self.path(run)?;
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path);
        let file = file.and_then(locked).map_err(cannot(&path))?;
        Ok(JournalFile::at(path, file, Mark::default()))
    }

    /// Goes on with a journal, behind its last whole record. Nothing when there is none.
    pub fn append_to(&self, run: &RunId) -> Result<Option<(JournalFile, Lines)>, StoreError> {
        let path = self.path(run)?;
        let Some(file) = existing(&path)? else { return Ok(None) };
        let text = text_from(&file, &path, 0)?;
        let found = read(&text, Mark::default(), &path)?;
        go_on(path, file, found).map(Some)
    }

    /// The same where everything before a place is known: the first record, and those behind that place. Nothing when there is no such
    /// place, because the journal was rewritten.
    pub fn append_after(&self, run: &RunId, mark: &Mark) -> Result<Option<(JournalFile, Lines)>, StoreError> {
        let path = self.path(run)?;
        let Some(file) = existing(&path)? else { return Ok(None) };
        let mut first = Vec::new();
        let mut beginning = BufReader::new((&file).take(JOURNAL_BYTES_MAX));
        beginning.read_until(b'\n', &mut first).map_err(cannot(&path))?;
        let Found::Record(first, _) = parse(&first, "") else { return Ok(None) };
        let text = text_from(&file, &path, mark.last)?;
        let known =
            usize::try_from(mark.bytes.saturating_sub(mark.last)).ok().and_then(|len| text.split_at_checked(len));
        let Some((last, rest)) = known.filter(|(last, _)| is_of(last, &mark.sum)) else { return Ok(None) };
        debug_assert!(last.ends_with(b"\n"), "a record is a line");
        let mut found = read(rest, mark.clone(), &path)?;
        found.lines.records.insert(0, first);
        go_on(path, file, found).map(Some)
    }

    /// The journal of a run, or nothing when it was not recorded.
    pub fn read(&self, run: &RunId) -> Result<Option<Lines>, StoreError> {
        let path = self.path(run)?;
        match File::open(&path) {
            Ok(file) => Ok(Some(read_all(&file, &path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot(&path)(error)),
        }
    }

    /// Whether a process is writing to it.
    pub fn is_written(&self, run: &RunId) -> bool {
        let Ok(file) = self.path(run).and_then(|path| File::open(&path).map_err(cannot(&path))) else { return false };
        flock(&file, FlockOperation::NonBlockingLockShared).is_err_and(|errno| errno == rustix::io::Errno::WOULDBLOCK)
    }

    /// The runs that have a journal, the oldest first.
    pub fn list(&self) -> Result<Vec<RunId>, StoreError> {
        let entries = std::fs::read_dir(&self.folder).map_err(cannot(&self.folder))?;
        let name = |entry: std::fs::DirEntry| {
            let path = entry.path();
            let ours = path.extension().is_some_and(|ending| ending == ENDING);
            path.file_stem().filter(|_| ours).map(|stem| stem.to_string_lossy().into_owned())
        };
        let mut runs: Vec<RunId> = entries.flatten().filter_map(name).filter(|name| is_name(name)).map(RunId).collect();
        runs.sort();
        Ok(runs)
    }

    /// The runs whose journals were not written to for so long.
    pub fn older_than(&self, age: Duration) -> Result<Vec<RunId>, StoreError> {
        let old = |run: &RunId| {
            let changed = self.path(run).ok().and_then(|path| path.metadata().and_then(|found| found.modified()).ok());
            changed.and_then(|at| at.elapsed().ok()).is_some_and(|since| since >= age)
        };
        Ok(self.list()?.into_iter().filter(old).collect())
    }

    /// Forgets a journal; false when there is none.
    pub fn remove(&self, run: &RunId) -> Result<bool, StoreError> {
        let path = self.path(run)?;
        match std::fs::remove_file(&path) {
            // What was to be forgotten does not come back.
            Ok(()) => folder::sync(&self.folder).map(|()| true).map_err(cannot(&self.folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(cannot(&path)(error)),
        }
    }

    fn path(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        // THREAT[T-REPLAY-005]: the name becomes part of a path. Nothing in it can lead elsewhere.
        if !is_name(&run.0) {
            return Err(StoreError::Invalid(format!(
                "a run's name has 1 to {NAME_CHARS_MAX} characters of `A-Z`, `a-z`, `0-9`, `_` and `-`"
            )));
        }
        Ok(self.folder.join(&run.0).with_extension(ENDING))
    }
}

impl JournalStore for Journals {
    fn create(&self, run: &RunId) -> Result<Option<Box<dyn Recorder>>, StoreProblem> {
        match Journals::create(self, run) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(StoreError::File { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(StoreProblem(error.to_string())),
        }
    }

    fn go_on(&self, run: &RunId) -> Result<Option<OpenJournal>, StoreProblem> {
        let found = self.append_to(run).map_err(|error| StoreProblem(error.to_string()))?;
        Ok(found.map(|(file, lines)| OpenJournal { to: Box::new(file), records: lines.records }))
    }

    fn forget(&self, run: &RunId) -> Result<(), StoreProblem> {
        self.remove(run).map(|_| ()).map_err(|error| StoreProblem(error.to_string()))
    }
}

impl JournalFile {
    fn at(path: PathBuf, file: File, end: Mark) -> JournalFile {
        JournalFile { path, file, synced: end.clone(), end, new: true, broken: None }
    }

    fn replace(&mut self, records: &[String]) -> Result<(), StoreProblem> {
        let beside = self.path.with_extension("new");
        let new = beside_with(&beside, records).and_then(|new| {
            std::fs::rename(&beside, &self.path).map_err(|error| problem(&self.path, &error))?;
            Ok(new)
        });
        let new = new.inspect_err(|_| _ = std::fs::remove_file(&beside))?;
        let path = std::mem::take(&mut self.path);
        *self = JournalFile { path, new: true, ..new };
        // The name is another file's until its folder is on disk.
        self.sync()
    }

    fn usable(&self) -> Result<(), StoreProblem> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// Takes back what could not be written. A line that is there by half, or only until the machine stops, would spoil all behind it.
    fn take_back(&mut self, to: Mark, error: &io::Error) -> StoreProblem {
        let why = problem(&self.path, error);
        let cut = self.file.set_len(to.bytes);
        if cut.is_err() || to.bytes < self.end.bytes {
            self.broken = Some(why.clone());
        }
        self.end = to;
        why
    }
}

impl Recorder for JournalFile {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.usable()?;
        let sum = next_sum(&self.end.sum, record);
        let bytes = self.end.bytes + (SUM_CHARS + 1 + record.len() + 1) as u64;
        if bytes > JOURNAL_BYTES_MAX {
            return Err(StoreProblem(format!(
                "a journal may have {} MiB, and this one is full",
                JOURNAL_BYTES_MAX >> 20
            )));
        }
        // Given to the system at once: what a killed process has recorded is there.
        let line = [sum.as_str(), " ", record, "\n"].concat();
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            return Err(self.take_back(self.end.clone(), &error));
        }
        self.end = Mark { last: self.end.bytes, bytes, sum };
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        self.usable()?;
        if let Err(error) = self.file.sync_data() {
            // The system may say of the next wait that it succeeded, and mean what comes then. What this one was for is not on disk.
            return Err(self.take_back(self.synced.clone(), &error));
        }
        self.synced = self.end.clone();
        let folder = self.path.parent().filter(|_| self.new);
        folder.map_or(Ok(()), folder::sync).map_err(|error| problem(&self.path, &error))?;
        self.new = false;
        Ok(())
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        self.usable()?;
        let mut lines = read_all(&self.file, &self.path).map_err(|error| StoreProblem(error.to_string()))?;
        let mut changed = false;
        for record in &mut lines.records {
            if let Some(new) = change(record) {
                (*record, changed) = (new, true);
            }
        }
        match changed {
            true => self.replace(&lines.records),
            // It may be what an earlier attempt made of it, whose folder was not waited for.
            false if self.new => self.sync(),
            false => Ok(()),
        }
    }

    fn mark(&self) -> Option<Mark> {
        Some(self.end.clone())
    }
}

/// A journal that is there, for nobody else to write to.
fn existing(path: &Path) -> Result<Option<File>, StoreError> {
    match OpenOptions::new().read(true).append(true).open(path).and_then(locked) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot(path)(error)),
    }
}

/// Goes on behind the last whole record.
fn go_on(path: PathBuf, file: File, found: Read) -> Result<(JournalFile, Lines), StoreError> {
    file.set_len(found.end.bytes).map_err(cannot(&path))?;
    Ok((JournalFile::at(path, file, found.end), found.lines))
}

/// A new file with these records, on disk.
fn beside_with(path: &Path, records: &[String]) -> Result<JournalFile, StoreProblem> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).and_then(locked);
    let file = file.and_then(|file| file.set_len(0).map(|()| file)).map_err(|error| problem(path, &error))?;
    // Nobody looks for it under this name.
    let mut new = JournalFile { new: false, ..JournalFile::at(path.to_owned(), file, Mark::default()) };
    records.iter().try_for_each(|record| new.append(record)).and_then(|()| new.sync())?;
    Ok(new)
}

fn text_from(mut file: &File, path: &Path, from: u64) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::new();
    file.seek(io::SeekFrom::Start(from)).map_err(cannot(path))?;
    file.take(JOURNAL_BYTES_MAX + 1).read_to_end(&mut text).map_err(cannot(path))?;
    Ok(text)
}

fn read_all(file: &File, path: &Path) -> Result<Lines, StoreError> {
    let text = text_from(file, path, 0)?;
    Ok(read(&text, Mark::default(), path)?.lines)
}

/// Records, and the place behind the last of them.
struct Read {
    lines: Lines,
    end: Mark,
}

/// The records of a text that stands behind a place.
fn read(text: &[u8], before: Mark, path: &Path) -> Result<Read, StoreError> {
    let (mut records, mut end, mut left) = (Vec::new(), before, text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match parse(line, &end.sum) {
            Found::Record(record, sum) => {
                records.push(record);
                end = Mark { last: end.bytes, bytes: end.bytes + line.len() as u64, sum };
                left -= line.len();
            }
            // A process that was stopped leaves a line that is not whole. One that is whole and wrong was changed.
            Found::Torn if left == line.len() => break,
            Found::Torn | Found::Changed => {
                return Err(StoreError::Journal { path: path.to_owned(), record: records.len() + 1 });
            }
        }
    }
    Ok(Read { lines: Lines { records, torn: left > 0 }, end })
}

/// Whether a line is a record with this checksum.
fn is_of(line: &[u8], sum: &str) -> bool {
    line.strip_suffix(b"\n").is_some_and(|line| !line.contains(&b'\n'))
        && sum.len() == SUM_CHARS
        && line.strip_prefix(sum.as_bytes()).is_some_and(|rest| rest.starts_with(b" "))
}

enum Found {
    Record(String, String),
    Torn,
    Changed,
}

// THREAT[T-REPLAY-003]: a journal is changed by hand or by a bad disk. Every record is bound to all before it.
fn parse(line: &[u8], before: &str) -> Found {
    let Some(line) = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok()) else {
        return Found::Torn;
    };
    let Some((sum, record)) = line.split_once(' ').filter(|(sum, _)| sum.len() == SUM_CHARS) else {
        return Found::Torn;
    };
    let next = next_sum(before, record);
    match next == sum {
        true => Found::Record(record.to_owned(), next),
        false if serde_json::from_str::<serde::de::IgnoredAny>(record).is_err() => Found::Torn,
        false => Found::Changed,
    }
}

fn next_sum(before: &str, record: &str) -> String {
    let mut sum = Digest::of(&[before, record].concat()).to_string();
    sum.truncate(SUM_CHARS);
    sum
}

fn locked(file: File) -> io::Result<File> {
    // A writer that was killed while it began a child holds on for as long as that child takes to become another
    // program: a lock outlives a fork.
    for _ in 0..LOCK_TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(io::Error::other("another process is writing to it"))
}

fn cannot(path: &Path) -> impl Fn(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::File { path: path.clone(), source }
}

fn problem(path: &Path, error: &io::Error) -> StoreProblem {
    StoreProblem(format!("cannot write `{}`: {error}", path.display()))
}

fn is_name(run: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=NAME_CHARS_MAX).contains(&run.len()) && run.bytes().all(fine)
}
