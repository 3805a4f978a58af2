use crate::migrations::{AUDIT, CONSENT, KEYS, KV, RUNS, SECRETS, SESSION, SESSIONS, SNIPPETS, Schema, WORKFLOWS};
use crate::{Audit, Consent, Journals, KeySource, Keys, Kv, Runs, Secrets, Sessions, Snippets, StoreError, Workflows};
use crate::{Copied, backup, database};
use isolith_core::CallerId;
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Where the folders of callers are.
const CALLERS: &str = "callers";
/// Where the journals of runs are.
const JOURNALS: &str = "journals";
/// Where the files of sessions are.
const SESSION_FILES: &str = "sessions";
/// Where the chunks of their files are.
const CHUNKS: &str = "chunks";
/// The longest name of a caller with a folder.
const CALLER_CHARS_MAX: usize = 64;

/// The folder with everything that isolith keeps for one user, or what a server keeps for one of its callers within it.
#[derive(Clone, Debug)]
pub struct DataFolder {
    path: PathBuf,
    // The folder that this one is the caller's part of; itself, unless it is one.
    root: PathBuf,
    owner: Option<CallerId>,
}

impl DataFolder {
    /// Uses a folder, and makes it when it is not there. Its stores are opened when they are asked for.
    pub fn open(path: impl Into<PathBuf>) -> Result<DataFolder, StoreError> {
        let path = path.into();
        let cannot = |source: io::Error| StoreError::Folder { path: path.clone(), source };
        // An absolute path, so that changing the current folder changes nothing.
        let path = std::path::absolute(&path).map_err(cannot)?;
        let cannot = |source: io::Error| StoreError::Folder { path: path.clone(), source };
        make(&path).map_err(cannot)?;
        let mode = std::fs::metadata(&path).map_err(cannot)?.permissions().mode();
        // THREAT[T-SECRET-014]: whoever can write here can put a database or a key of theirs in place of ours.
        if mode & 0o002 != 0 {
            return Err(StoreError::Open(path));
        }
        Ok(DataFolder { root: path.clone(), path, owner: None })
    }

    /// What is kept for one caller: key spaces, secrets and audit of its own. For the local user that is the whole folder.
    ///
    /// The key of the secrets, the runs and the keys to the server stay where they were. A name that is not 1 to 64 of `a-z` and `0-9` is
    /// refused.
    pub fn caller(&self, caller: &CallerId) -> Result<DataFolder, StoreError> {
        if *caller == CallerId::local() {
            return Ok(DataFolder { path: self.root.clone(), root: self.root.clone(), owner: None });
        }
        // THREAT[T-KEY-005]: the name becomes part of a path. Nothing in it can lead elsewhere.
        if !is_name(&caller.0) {
            return Err(StoreError::Invalid("a caller's name has 1 to 64 characters of `a-z` and `0-9`".into()));
        }
        let folder = DataFolder::open(DataFolder::open(self.root.join(CALLERS))?.path.join(&caller.0))?;
        Ok(DataFolder { path: folder.path, root: self.root.clone(), owner: Some(caller.clone()) })
    }

    /// Where the folder is unless someone says otherwise: `$ISOLITH_DATA`, `$XDG_DATA_HOME/isolith` or `~/.local/share/isolith`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG rules say that a relative path there is to be ignored.
        let shared = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let shared = shared.or_else(|| set("HOME").map(|home| home.join(".local/share")));
        set("ISOLITH_DATA").or_else(|| shared.map(|path| path.join("isolith"))).ok_or(StoreError::Homeless)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key spaces.
    pub fn kv(&self) -> Result<Kv, StoreError> {
        Kv::open(&self.file(&KV))
    }

    /// The audit log, and its writer.
    pub fn audit(&self) -> Result<Audit, StoreError> {
        Audit::open(&self.file(&AUDIT))
    }

    /// The secrets, with the key that the environment names: `$ISOLITH_KEY`, `$ISOLITH_KEY_FILE`, or the file `key` in here.
    pub fn secrets(&self) -> Result<Secrets, StoreError> {
        self.secrets_with(KeySource::from_environment(&self.root))
    }

    /// The secrets, with a key from elsewhere.
    pub fn secrets_with(&self, key: KeySource) -> Result<Secrets, StoreError> {
        Secrets::open(&self.file(&SECRETS), key, self.owner.clone())
    }

    /// The answers that people gave.
    pub fn consent(&self) -> Result<Consent, StoreError> {
        Consent::open(&self.file(&CONSENT))
    }

    /// The programs that are kept by name.
    pub fn snippets(&self) -> Result<Snippets, StoreError> {
        Snippets::open(&self.file(&SNIPPETS))
    }

    /// The sessions.
    pub fn sessions(&self) -> Result<Sessions, StoreError> {
        Sessions::open(&self.file(&SESSIONS), &self.path.join(SESSION_FILES), &self.path.join(CHUNKS))
    }

    /// The journals of recorded runs.
    pub fn journals(&self) -> Result<Journals, StoreError> {
        Journals::open(self.path.join(JOURNALS))
    }

    /// Runs of workflows, and the workflows that are kept by name.
    pub fn workflows(&self) -> Result<Workflows, StoreError> {
        Workflows::open(&self.file(&WORKFLOWS))
    }

    /// The runs of all callers, and their writer.
    pub fn runs(&self) -> Result<Runs, StoreError> {
        Runs::open(&self.root.join(RUNS.file))
    }

    /// The keys to the server.
    pub fn keys(&self) -> Result<Keys, StoreError> {
        Keys::open(&self.root.join(KEYS.file))
    }

    /// Copies all of it to where nothing is, while it is in use. The copy is a data folder.
    pub fn backup(&self, to: &Path, told: &mut dyn FnMut(Copied)) -> Result<Copied, StoreError> {
        backup::backup(&self.root, to, told)
    }

    /// Looks through every database that is there for damage, those of callers too. Takes as long as reading them does.
    pub fn check(&self) -> Vec<(PathBuf, Result<(), StoreError>)> {
        let mut folders = vec![self.path.clone()];
        let callers = std::fs::read_dir(self.path.join(CALLERS)).into_iter().flatten().flatten();
        folders
            .extend(callers.filter(|entry| entry.file_name().to_str().is_some_and(is_name)).map(|entry| entry.path()));
        folders[1..].sort();
        let files = folders.iter().flat_map(|folder| {
            let stores = [&KV, &AUDIT, &SECRETS, &CONSENT, &SNIPPETS, &RUNS, &KEYS, &SESSIONS, &WORKFLOWS];
            let mut sessions: Vec<PathBuf> = std::fs::read_dir(folder.join(SESSION_FILES))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "sqlite"))
                .collect();
            sessions.sort();
            let stores = stores.map(|schema| (folder.join(schema.file), schema)).into_iter();
            stores.chain(sessions.into_iter().map(|path| (path, &SESSION)))
        });
        let check = |(path, schema): (PathBuf, &Schema)| {
            let sound = database::check(&path, schema);
            (path, sound)
        };
        files.filter(|(path, _)| path.exists()).map(check).collect()
    }

    fn file(&self, schema: &Schema) -> PathBuf {
        self.path.join(schema.file)
    }
}

/// Makes a folder that is its owner's alone, unless there is one. The disk knows of it when this returns: what is in it is never waited
/// for in vain.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    for folder in missing {
        match folder.parent().map_or(Ok(()), sync) {
            // One that is not ours to read is not ours to wait for.
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
                // So that whoever tries again waits again.
                let _ = std::fs::remove_dir(folder);
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns when the names in a folder are on disk.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn is_name(caller: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=CALLER_CHARS_MAX).contains(&caller.len()) && caller.bytes().all(fine)
}
