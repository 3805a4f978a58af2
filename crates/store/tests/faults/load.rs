//! What a writer does to everything that a data folder keeps, and what is there when it was done.

use crate::load::{Model, contents, expect, filler, path, perform};
use isolith_core::files::{Changing, Room};
use isolith_core::{
    BindingName, FileTree, FilesError, HostReply, Json, KvOp, Recorder as _, RunId, SecretName, SessionError,
    SessionName, SessionSettings, SessionStore as _, SnapshotsKept, StoreProblem, Timestamp, WebhookSettings,
};
use isolith_store::{DataFolder, JournalFile, Journals, KeySource, Kv, Secrets, Sessions, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The session that is written to.
const SESSION: &str = "killed";
/// One that comes and goes.
const AGAIN: &str = "again";
const SNAPSHOTS_KEPT: SnapshotsKept = SnapshotsKept { most: 1_000, age: None };
/// A file that is the same in all sessions.
const COMMON: &str = "common";
const QUOTA_BYTES: u64 = 1 << 20;

/// Why something was not done: its code, and the words.
pub(crate) struct Refused(pub(crate) &'static str, pub(crate) String);

impl From<FilesError> for Refused {
    fn from(error: FilesError) -> Refused {
        Refused(error.code(), error.to_string())
    }
}

impl From<SessionError> for Refused {
    fn from(error: SessionError) -> Refused {
        Refused(error.code(), error.to_string())
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        let code = match &error {
            StoreError::Folder { .. }
            | StoreError::Database { .. }
            | StoreError::File { .. }
            | StoreError::Unwritable(_) => "store.io",
            StoreError::Key(_) => "store.key",
            // What could not be written is neither damaged nor another's.
            _ => "store.other",
        };
        Refused(code, error.to_string())
    }
}

impl From<StoreProblem> for Refused {
    fn from(problem: StoreProblem) -> Refused {
        Refused("store.problem", problem.0)
    }
}

pub(crate) fn name(text: &str) -> SessionName {
    SessionName::new(text).unwrap()
}

pub(crate) fn run() -> RunId {
    RunId("run-1".into())
}

fn secret(number: u64) -> SecretName {
    SecretName::new(&format!("s{number}")).unwrap()
}

fn space() -> BindingName {
    BindingName::new("space").unwrap()
}

/// What an operation is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Files,
    Key,
    Journal,
    Rewrite,
    Snapshot,
    Session,
    Fork,
    Secret,
    /// The session that comes as a fork, goes, and comes anew.
    Again,
}

fn about(number: u64) -> About {
    match number % 16 {
        1 | 9 => About::Key,
        3 | 10 => About::Journal,
        13 => About::Rewrite,
        6 => About::Snapshot,
        11 => About::Session,
        7 => About::Fork,
        14 => About::Secret,
        5 | 8 | 15 => About::Again,
        _ => About::Files,
    }
}

/// Which operation on files it is.
fn files_number(number: u64) -> u64 {
    number * 7 + number / 16
}

/// What every session has, in chunks that they share.
fn common() -> Vec<u8> {
    filler(1, 60_000)
}

fn again(number: u64) -> u64 {
    match number % 16 {
        5 => 0,
        8 => 1,
        _ => 2,
    }
}

fn key_of(number: u64) -> (String, Option<u64>) {
    (format!("k{}", number % 5), (number % 7 != 2).then_some(number))
}

/// Everything that is kept, opened when it is needed.
pub(crate) struct Place {
    data: DataFolder,
    sessions: Option<Sessions>,
    tree: Option<Arc<dyn FileTree>>,
    kv: Option<Kv>,
    journals: Option<Journals>,
    journal: Option<JournalFile>,
    journal_failed: bool,
    secrets: Option<Secrets>,
}

fn there<T>(slot: &mut Option<T>, open: impl FnOnce() -> Result<T, StoreError>) -> Result<&mut T, Refused> {
    if slot.is_none() {
        *slot = Some(open()?);
    }
    Ok(slot.as_mut().unwrap())
}

impl Place {
    pub(crate) fn open(data: &Path) -> Result<Place, StoreError> {
        let data = DataFolder::open(data)?;
        let (tree, kv, journal) = (None, None, None);
        Ok(Place { data, sessions: None, tree, kv, journals: None, journal, journal_failed: false, secrets: None })
    }

    pub(crate) fn sessions(&mut self) -> Result<&Sessions, Refused> {
        there(&mut self.sessions, || self.data.sessions()).map(|sessions| &*sessions)
    }

    pub(crate) fn tree(&mut self) -> Result<Arc<dyn FileTree>, Refused> {
        if self.tree.is_none() {
            let sessions = self.sessions()?;
            if sessions.get(&name(SESSION))?.is_none() {
                sessions.create(Some(name(SESSION)), SessionSettings::default())?;
            }
            self.tree = Some(sessions.open(&name(SESSION), Room::default())?.files);
        }
        Ok(Arc::clone(self.tree.as_ref().unwrap()))
    }

    pub(crate) fn journal(&mut self) -> Result<&mut JournalFile, Refused> {
        let journals = there(&mut self.journals, || self.data.journals())?;
        there(&mut self.journal, || match journals.append_to(&run())? {
            Some((file, _)) => Ok(file),
            None => journals.create(&run()),
        })
    }

    pub(crate) fn secrets(&mut self) -> Result<&Secrets, Refused> {
        let source = || KeySource::Own(self.data.path().join("key"));
        there(&mut self.secrets, || self.data.secrets_with(source())).map(|secrets| &*secrets)
    }

    pub(crate) fn perform_key(&mut self, op: &KvOp) -> Result<Json, Refused> {
        let kv = there(&mut self.kv, || self.data.kv())?;
        match kv.perform_now(&space(), QUOTA_BYTES, op, Timestamp::default()) {
            HostReply::Value { json } => Ok(json.unwrap_or_else(Json::null)),
            HostReply::Failed { error } => {
                let code = if error.code.as_deref() == Some("kv.io") { "kv.io" } else { "kv.other" };
                Err(Refused(code, error.message))
            }
            other => panic!("{other:?}"),
        }
    }

    /// The numbered operation.
    pub(crate) fn step(&mut self, number: u64) -> Result<(), Refused> {
        match about(number) {
            About::Files => Ok(perform(&*self.tree()?, files_number(number))?),
            About::Key => {
                let op = match key_of(number) {
                    (key, Some(value)) => {
                        let value = Json::of(&value).unwrap();
                        KvOp::Put { key, value, ttl_ms: None, metadata: None, expect: None }
                    }
                    (key, None) => KvOp::Delete { key, expect: None },
                };
                self.perform_key(&op).map(|_| ())
            }
            About::Journal => {
                let journal = self.journal()?;
                let done = journal.append(&format!("{{\"n\":{number}}}")).and_then(|()| journal.sync());
                self.settle(done)
            }
            About::Rewrite => {
                let journal = self.journal()?;
                let done = journal.rewrite(&mut |record| {
                    let plain = record.strip_suffix('}').filter(|plain| !plain.contains(','));
                    plain.map(|plain| format!("{plain},\"cut\":{number}}}"))
                });
                self.settle(done)
            }
            About::Snapshot => {
                self.tree()?;
                let snapshot = Some(name(&format!("s{number}")));
                self.sessions()?.snapshot(&name(SESSION), snapshot, SNAPSHOTS_KEPT)?;
                Ok(())
            }
            About::Session => {
                let (session, sessions) = (name(&format!("c{number}")), self.sessions()?);
                sessions.create(Some(session.clone()), SessionSettings::default())?;
                let tree = sessions.open(&session, Room::default())?.files;
                Ok(tree.change("test", &mut |draft| draft.put_file(&path(COMMON), &common(), None))?)
            }
            About::Fork => {
                self.tree()?;
                self.sessions()?.fork(&name(SESSION), None, Some(name(&format!("c{number}"))))?;
                Ok(())
            }
            About::Secret => Ok(self.secrets()?.set(&secret(number), &format!("value {number}"))?),
            About::Again => {
                self.tree()?;
                let sessions = self.sessions()?;
                sessions.remove(&name(AGAIN))?;
                match again(number) {
                    0 => drop(sessions.fork(&name(SESSION), None, Some(name(AGAIN)))?),
                    1 => {}
                    _ => {
                        sessions.create(Some(name(AGAIN)), SessionSettings::default())?;
                        let tree = sessions.open(&name(AGAIN), Room::default())?.files;
                        let found = contents(&*tree)?;
                        if !found.is_empty() {
                            return Err(Refused("session.wrong", format!("a new session has {:?}", found.keys())));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Whoever cannot write to a journal tries it once more, and then takes it up anew.
    fn settle(&mut self, done: Result<(), StoreProblem>) -> Result<(), Refused> {
        if std::mem::replace(&mut self.journal_failed, done.is_err()) && done.is_err() {
            self.journal = None;
        }
        Ok(done?)
    }
}

impl Place {
    /// Opens everything.
    pub(crate) fn open_all(&mut self) -> Result<(), Refused> {
        self.tree()?;
        self.journal()?;
        self.secrets()?;
        self.look()
    }

    /// Reads from everything.
    pub(crate) fn look(&mut self) -> Result<(), Refused> {
        assert!(!contents(&*self.tree()?)?.is_empty());
        self.perform_key(&KvOp::Get { keys: vec!["k1".into()] })?;
        self.secrets()?.names()?;
        self.sessions()?.list(None, None, 10)?;
        Ok(())
    }
}

fn other_settings() -> SessionSettings {
    SessionSettings { sleep_after_s: Some(9), ..SessionSettings::default() }
}

type Verb = (&'static str, fn(&mut Place) -> Result<(), Refused>);

fn changed(place: &mut Place, change: &mut Changing<'_>) -> Result<(), Refused> {
    Ok(place.tree()?.change("test", change)?)
}

/// Everything that changes something.
pub(crate) const VERBS: [Verb; 31] = [
    ("write", |place| changed(place, &mut |draft| draft.put_file(&path("new"), b"x", None))),
    ("write much", |place| changed(place, &mut |draft| draft.put_file(&path("new"), &[7; 100_000], None))),
    ("append", |place| changed(place, &mut |draft| draft.append(&path("log"), b"x"))),
    ("mkdir", |place| changed(place, &mut |draft| draft.put_folder(&path("folder")))),
    ("move", |place| changed(place, &mut |draft| draft.rename(&path("log"), &path("moved")))),
    ("copy", |place| changed(place, &mut |draft| draft.copy_file(&path("log"), &path("copied")))),
    ("remove", |place| changed(place, &mut |draft| draft.remove(&path("log")))),
    ("set", |place| changed(place, &mut |draft| draft.set(&path("log"), Some(0o600), None))),
    ("undo", |place| Ok(place.tree()?.undo(None).map(drop)?)),
    ("kv put", |place| place.step(1)),
    ("kv delete", |place| place.perform_key(&KvOp::Delete { key: "k1".into(), expect: None }).map(drop)),
    ("journal append", |place| place.step(3)),
    ("journal rewrite", |place| Ok(place.journal()?.rewrite(&mut |record| Some(record.replace("cut", "changed")))?)),
    ("journal create", |place| Ok(place.data.journals()?.create(&RunId("run-2".into())).map(drop)?)),
    ("journal remove", |place| Ok(place.data.journals()?.remove(&run()).map(drop)?)),
    ("create", |place| Ok(place.sessions()?.create(None, SessionSettings::default()).map(drop)?)),
    ("set settings", |place| Ok(place.sessions()?.set(&name(SESSION), other_settings()).map(drop)?)),
    ("fork", |place| Ok(place.sessions()?.fork(&name(SESSION), None, None).map(drop)?)),
    ("restore", |place| Ok(place.sessions()?.fork(&name(SESSION), Some(&name("s6")), None).map(drop)?)),
    ("snapshot", |place| Ok(place.sessions()?.snapshot(&name(SESSION), None, SNAPSHOTS_KEPT).map(drop)?)),
    ("remove snapshot", |place| Ok(place.sessions()?.remove_snapshot(&name(SESSION), &name("s6")).map(drop)?)),
    ("remove session", |place| Ok(place.sessions()?.remove(&name(SESSION)).map(drop)?)),
    ("sweep", |place| Ok(place.sessions()?.sweep().map(drop)?)),
    ("put agent", |place| Ok(place.sessions()?.put_agent(&name("a"), "", SessionSettings::default()).map(drop)?)),
    ("put webhook", |place| Ok(place.sessions()?.put_webhook(&name("w"), WebhookSettings::default()).map(drop)?)),
    ("set secret", |place| Ok(place.secrets()?.set(&secret(1), "x")?)),
    ("remove secret", |place| Ok(place.secrets()?.remove(&secret(14)).map(drop)?)),
    ("remember", |place| Ok(place.data.consent()?.remember("digest", "kv:x", true)?)),
    ("save workflow", |place| Ok(place.data.workflows()?.save("flow", "source")?)),
    ("open runs", |place| Ok(place.data.runs().map(drop)?)),
    ("open audit", |place| Ok(place.data.audit().map(drop)?)),
];

/// A thing that was to be made: what is in it, and whether its maker was told that it is there.
struct Made {
    acknowledged: bool,
    /// Whether it is made first, and what is in it comes then.
    begun: bool,
    files: Model,
}

/// What has to be there, and what may.
#[derive(Default)]
pub(crate) struct Expected {
    files: Model,
    // What the last operations, none of which was acknowledged, may have made of it, one of them at most.
    perhaps: Vec<Model>,
    keys: BTreeMap<String, BTreeSet<Option<u64>>>,
    records: Vec<(u64, bool)>,
    // Which rewriting each record may show.
    cuts: BTreeMap<u64, BTreeSet<Option<u64>>>,
    snapshots: BTreeMap<u64, Made>,
    sessions: BTreeMap<u64, Made>,
    secrets: BTreeMap<u64, bool>,
    again: Vec<Option<Model>>,
}

impl Expected {
    /// An operation was asked for, and acknowledged or not.
    pub(crate) fn told(&mut self, number: u64, acknowledged: bool) {
        let made = |files: &Model| Made { acknowledged, begun: false, files: files.clone() };
        match about(number) {
            About::Files => {
                let mut after = self.files.clone();
                expect(&mut after, files_number(number));
                match acknowledged {
                    true => (self.files, self.perhaps) = (after, Vec::new()),
                    false => self.perhaps.push(after),
                }
            }
            About::Key => {
                let (key, value) = key_of(number);
                let may = self.keys.entry(key).or_insert_with(|| BTreeSet::from([None]));
                if acknowledged {
                    may.clear();
                }
                may.insert(value);
            }
            About::Journal => {
                self.records.push((number, acknowledged));
                self.cuts.insert(number, BTreeSet::from([None]));
            }
            About::Rewrite => {
                for (_, cuts) in self.cuts.iter_mut().filter(|(_, cuts)| cuts.contains(&None)) {
                    if acknowledged {
                        cuts.remove(&None);
                    }
                    cuts.insert(Some(number));
                }
            }
            About::Snapshot => drop(self.snapshots.insert(number, made(&self.files))),
            About::Session => {
                let files = Model::from([(COMMON.to_owned(), common())]);
                self.sessions.insert(number, Made { begun: true, ..made(&files) });
            }
            About::Fork => drop(self.sessions.insert(number, made(&self.files))),
            About::Secret => drop(self.secrets.insert(number, acknowledged)),
            About::Again => {
                // It goes and comes, which are two.
                let after: &[Option<Model>] = match again(number) {
                    0 => &[Some(self.files.clone()), None],
                    1 => &[None],
                    _ => &[Some(Model::new()), None],
                };
                match acknowledged {
                    true => self.again = after[..1].to_vec(),
                    false if self.again.is_empty() => self.again = [after, &[None]].concat(),
                    false => self.again.extend_from_slice(after),
                }
            }
        }
    }

    /// Whether what is found is what was said, after the disk is well again.
    pub(crate) fn check(&self, data: &Path) -> Result<(), String> {
        let folder = DataFolder::open(data).unwrap();
        let sessions = folder.sessions().unwrap();
        // What nobody needs goes, and nothing else.
        sessions.sweep().map_err(|error| format!("it cannot be swept: {error}"))?;
        for (file, sound) in folder.check() {
            sound.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        self.check_sessions(&sessions)?;
        self.check_keys(data)?;
        self.check_journal(&folder)?;
        let secrets = folder.secrets_with(KeySource::Own(data.join("key"))).unwrap();
        for (number, acknowledged) in &self.secrets {
            let found = secrets.value(&secret(*number)).map_err(|error| error.to_string())?;
            match found {
                Some(value) if *value == format!("value {number}") => {}
                None if !acknowledged => {}
                _ => return Err(format!("secret {number} is wrong")),
            }
        }
        Ok(())
    }

    fn check_sessions(&self, sessions: &Sessions) -> Result<(), String> {
        let show = |error: SessionError| error.to_string();
        let files_of = |session: &SessionName| -> Result<Option<Model>, String> {
            match sessions.get(session).map_err(show)? {
                Some(_) => {
                    let tree = sessions.open(session, Room::default()).map_err(show)?.files;
                    let found = contents(&*tree).map_err(|error| format!("{session}: {error}"))?;
                    let (used, _) = tree.used().map_err(|error| error.to_string())?;
                    let bytes: usize = found.values().map(Vec::len).sum();
                    let counted = used.bytes == bytes as u64;
                    counted.then_some(Some(found)).ok_or_else(|| format!("the bytes of {session} are counted wrongly"))
                }
                None => Ok(None),
            }
        };
        let found = files_of(&name(SESSION))?.unwrap_or_default();
        if found != self.files && !self.perhaps.contains(&found) {
            return Err(format!("files are neither as before nor as after: {:?}", differing(&found, &self.files)));
        }
        for (number, made) in &self.sessions {
            made.check(files_of(&name(&format!("c{number}")))?, &format!("session {number}"))?;
        }
        let known: BTreeSet<SessionName> = match sessions.snapshots(&name(SESSION)) {
            Ok(known) => known.into_iter().map(|known| known.snapshot).collect(),
            Err(_) => BTreeSet::new(),
        };
        for (number, made) in &self.snapshots {
            let snapshot = name(&format!("s{number}"));
            let found = match known.contains(&snapshot) {
                true => {
                    let restored = sessions.fork(&name(SESSION), Some(&snapshot), None).map_err(show)?;
                    files_of(&restored.session)?
                }
                false => None,
            };
            made.check(found, &format!("snapshot {number}"))?;
        }
        let found = files_of(&name(AGAIN))?;
        let may = if self.again.is_empty() { &[None][..] } else { &self.again };
        if !may.contains(&found) {
            let files = found.map(|files| files.into_keys().collect::<Vec<_>>());
            return Err(format!("the session that comes and goes is {files:?}"));
        }
        Ok(())
    }

    fn check_keys(&self, data: &Path) -> Result<(), String> {
        let mut place = Place::open(data).unwrap();
        for (key, may) in &self.keys {
            let found = place.perform_key(&KvOp::Get { keys: vec![key.clone()] }).map_err(|refused| refused.1)?;
            let found: Vec<Option<Entry>> = found.parse().unwrap();
            let found = found[0].as_ref().map(|entry| entry.value);
            if !may.contains(&found) {
                return Err(format!("key {key} is {found:?}, and may be {may:?}"));
            }
        }
        Ok(())
    }

    fn check_journal(&self, folder: &DataFolder) -> Result<(), String> {
        let found = folder.journals().unwrap().read(&run()).map_err(|error| error.to_string())?;
        let found: Vec<Record> = found.map_or_else(Vec::new, |lines| {
            lines.records.iter().map(|record| serde_json::from_str(record).unwrap()).collect()
        });
        let mut rest = found.iter().peekable();
        for (number, acknowledged) in &self.records {
            match rest.next_if(|record| record.n == *number) {
                Some(record) if !self.cuts[number].contains(&record.cut) => {
                    return Err(format!(
                        "record {number} shows rewriting {:?}, may: {:?}",
                        record.cut, self.cuts[number]
                    ));
                }
                None if *acknowledged => {
                    return Err(format!("record {number} is not there: {found:?}"));
                }
                _ => {}
            }
        }
        match rest.next() {
            Some(record) => Err(format!("nobody asked for {record:?}")),
            None => Ok(()),
        }
    }
}

#[derive(serde::Deserialize)]
struct Entry {
    value: u64,
}

#[derive(Debug, serde::Deserialize)]
struct Record {
    n: u64,
    cut: Option<u64>,
}

impl Made {
    fn check(&self, found: Option<Model>, what: &str) -> Result<(), String> {
        match found {
            Some(found) if found == self.files => Ok(()),
            Some(found) if found.is_empty() && self.begun && !self.acknowledged => Ok(()),
            Some(found) => Err(format!("{what} is not whole: {:?}", differing(&found, &self.files))),
            None if self.acknowledged => Err(format!("{what} is not there")),
            None => Ok(()),
        }
    }
}

fn differing(one: &Model, other: &Model) -> Vec<String> {
    let mut keys: Vec<String> =
        one.keys().chain(other.keys()).filter(|key| one.get(*key) != other.get(*key)).cloned().collect();
    keys.dedup();
    keys
}
