//! Where V8 comes from: the wheel of `mini-racer`, whose hash is pinned, and the two files of it that are needed.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The package, as pip knows it.
pub const PACKAGE: &str = "mini-racer";
/// The version that is pinned.
pub const VERSION: &str = "0.14.1";
/// The version of V8 in it.
pub const V8_VERSION: &str = "14.4.258.23";
/// When it was published.
pub const PUBLISHED: &str = "2026-02-01";

const LIBRARY: &str = "libmini_racer.so";
const DATA: &str = "icudtl.dat";
/// What is known of an installation, beside its files.
const RECORD: &str = "installed.json";
/// The most bytes of one file that are unpacked: the library has some 74 million.
const FILE_BYTES_MAX: u64 = 200 << 20;

// THREAT[T-ENGINE-004]: another library has other functions behind the same names.
/// The hash of the wheel for each architecture that there is one for.
const WHEELS: &[(&str, &str)] = &[("x86_64", "cdf3a088e1363f16a695288f882abf76b3705b8e1df21418208b87ed010037a4")];

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Nothing is pinned for this machine.
    #[error("there is no wheel for `{0}`")]
    Architecture(&'static str),
    /// A file could not be read or written.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Not the wheel that is pinned.
    #[error("`{}` has the hash {found}, but {wanted} is pinned", path.display())]
    Hash {
        /// The file.
        path: PathBuf,
        /// Its hash.
        found: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A wheel without one of the files.
    #[error("`{}` cannot be unpacked: {why}", path.display())]
    Wheel {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// pip did not do it.
    #[error("`{command}` failed: {why}")]
    Fetch {
        /// What was run.
        command: String,
        /// What it said.
        why: String,
    },
    /// Nothing is installed there.
    #[error("V8 is not installed in `{}`", folder.display())]
    Missing {
        /// Where it was looked for.
        folder: PathBuf,
    },
}

/// A library that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    folder: PathBuf,
    record: Record,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    package: String,
    version: String,
    v8: String,
    published: String,
    wheel_sha256: String,
}

impl Installed {
    /// What is installed in a folder.
    pub fn find(folder: &Path) -> Result<Installed, InstallError> {
        let missing = || InstallError::Missing { folder: folder.to_owned() };
        let record = fs::read(folder.join(RECORD)).map_err(|_| missing())?;
        let record: Record = serde_json::from_slice(&record).map_err(|_| missing())?;
        let folder = folder.canonicalize().map_err(|_| missing())?;
        let installed = Installed { folder, record };
        // What an older version of ours pinned is not what this one was written for.
        let is_pinned = pinned().is_ok_and(|hash| hash == installed.record.wheel_sha256);
        let is_whole = installed.library().is_file() && installed.data().is_file();
        if is_pinned && is_whole { Ok(installed) } else { Err(missing()) }
    }

    /// The library.
    pub fn library(&self) -> PathBuf {
        self.folder.join(LIBRARY)
    }

    /// Its tables of languages.
    pub fn data(&self) -> PathBuf {
        self.folder.join(DATA)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The version of the package.
    pub fn version(&self) -> &str {
        &self.record.version
    }

    /// The version of V8.
    pub fn v8_version(&self) -> &str {
        &self.record.v8
    }

    /// The day it was published on, `2026-02-01`.
    pub fn published(&self) -> &str {
        &self.record.published
    }

    /// The hash of the wheel it came in.
    pub fn sha256(&self) -> &str {
        &self.record.wheel_sha256
    }

    /// Takes it away.
    pub fn remove(self) -> Result<(), InstallError> {
        for name in [RECORD, LIBRARY, DATA] {
            let path = self.folder.join(name);
            fs::remove_file(&path).map_err(file("remove", &path))?;
        }
        // Whatever else is in the folder is not ours.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }
}

/// The hash of the wheel for this machine.
pub fn pinned() -> Result<&'static str, InstallError> {
    let arch = std::env::consts::ARCH;
    let found = WHEELS.iter().find(|(name, _)| *name == arch && cfg!(target_os = "linux"));
    found.map(|(_, hash)| *hash).ok_or(InstallError::Architecture(arch))
}

/// Unpacks a wheel into a folder, if it is the one that is pinned.
///
/// A worker without rights must be able to read neither: both files are read before it gives its rights up.
pub fn from_wheel(wheel: &Path, folder: &Path) -> Result<Installed, InstallError> {
    let wanted = pinned()?;
    let mut opened = File::open(wheel).map_err(file("open", wheel))?;
    let found = hash(&mut opened).map_err(file("read", wheel))?;
    if found != wanted {
        return Err(InstallError::Hash { path: wheel.to_owned(), found, wanted });
    }
    // What was hashed is what is unpacked: the file stays open.
    opened.rewind().map_err(file("read", wheel))?;
    fs::create_dir_all(folder).map_err(file("make", folder))?;
    let broken = |why: String| InstallError::Wheel { path: wheel.to_owned(), why };
    let mut archive = zip::ZipArchive::new(opened).map_err(|error| broken(error.to_string()))?;
    for name in [LIBRARY, DATA] {
        let inside = archive
            .file_names()
            .filter_map(|path| Some(path.ok()?.into_owned()))
            .find(|path| path.rsplit('/').next() == Some(name));
        let inside = inside.ok_or_else(|| broken(format!("`{name}` is not in it")))?;
        let mut entry = archive.by_name(&inside).map_err(|error| broken(error.to_string()))?;
        if entry.size() > FILE_BYTES_MAX {
            return Err(broken(format!("`{name}` is too large")));
        }
        write(folder, name, &mut (&mut entry).take(FILE_BYTES_MAX))?;
    }
    let record = Record {
        package: PACKAGE.into(),
        version: VERSION.into(),
        v8: V8_VERSION.into(),
        published: PUBLISHED.into(),
        wheel_sha256: wanted.into(),
    };
    let record = serde_json::to_vec_pretty(&record).map_err(|error| broken(error.to_string()))?;
    write(folder, RECORD, &mut record.as_slice())?;
    Installed::find(folder)
}

/// Fetches the wheel by pip into a folder of its own, and unpacks it.
pub fn by_pip(folder: &Path) -> Result<Installed, InstallError> {
    fetched(&format!("{PACKAGE}=={VERSION}"), folder)
}

/// The same from an address.
pub fn from_url(url: &str, folder: &Path) -> Result<Installed, InstallError> {
    fetched(url, folder)
}

/// The one in the folder that `ISOLITH_V8` names, or in the user's cache; fetched by pip where it is not there. What tests and
/// measurements share, and no program of a user's.
pub fn cached() -> Result<Installed, InstallError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let cache = || cache.unwrap_or_else(std::env::temp_dir).join("isolith").join("v8");
    let folder = variable("ISOLITH_V8").unwrap_or_else(cache);
    Installed::find(&folder).or_else(|_| by_pip(&folder))
}

fn fetched(package: &str, folder: &Path) -> Result<Installed, InstallError> {
    pinned()?;
    let downloads = folder.join(format!("download-{}", std::process::id()));
    fs::create_dir_all(&downloads).map_err(file("make", &downloads))?;
    let installed = fetch(&downloads, package).and_then(|wheel| from_wheel(&wheel, folder));
    let _ = fs::remove_dir_all(&downloads);
    installed
}

fn fetch(downloads: &Path, package: &str) -> Result<PathBuf, InstallError> {
    let arguments = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"];
    let command = format!("python3 {} {} {package}", arguments.join(" "), downloads.display());
    let failed = |why: String| InstallError::Fetch { command: command.clone(), why };
    let output = Command::new("python3").args(arguments).arg(downloads).arg(package).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let entries = fs::read_dir(downloads).map_err(file("read", downloads))?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.ok_or_else(|| failed("it fetched no wheel".into()))
}

/// Writes beside and renames, so that nobody ever loads half a file.
fn write(folder: &Path, name: &str, from: &mut dyn Read) -> Result<(), InstallError> {
    let (path, beside) = (folder.join(name), folder.join(format!("{name}.{}", std::process::id())));
    let mut copy = || {
        let mut to = File::create(&beside)?;
        io::copy(from, &mut to)?;
        to.flush()?;
        fs::rename(&beside, &path)
    };
    copy().map_err(file("write", &path))
}

fn hash(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(file, &mut hasher)?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::File { doing, path, source }
}
