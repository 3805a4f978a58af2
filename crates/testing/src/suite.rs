use crate::{Case, CaseError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a suite cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// A file or folder.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line that is not a case.
    #[error("`{}`, line {line}: {source}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// The folder of the conformance suite, seen from a package's, where cargo runs its tests. Where that lay when a test was
/// compiled is nothing to go by: a cache of what was built can serve several copies of the repository.
pub fn conformance_root() -> PathBuf {
    PathBuf::from("../../conformance")
}

/// A case with its path below the suite's folder. A file that is no case comes with its reason, so that a mistake in
/// one is seen and does not hide the others.
pub type Found = (String, Result<Case, CaseError>);

/// Every case below a folder, sorted by path.
pub fn conformance(root: &Path) -> Result<Vec<Found>, SuiteError> {
    let mut cases = Vec::new();
    for area in entries(root)?.into_iter().filter(|path| path.is_dir()) {
        for file in entries(&area)? {
            let path = below(root, &file);
            if file.extension().is_some_and(|end| end == "js" || end == "ts") {
                let case = Case::parse(&path, &read(&file)?);
                cases.push((path, case));
            }
        }
    }
    Ok(cases)
}

/// A path below a root, with `/` between its parts on every system.
pub(crate) fn below(root: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = rest.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

pub(crate) fn read(path: &Path) -> Result<String, SuiteError> {
    std::fs::read_to_string(path).map_err(|source| SuiteError::Read { path: path.into(), source })
}

/// What is in a folder, sorted by name.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, SuiteError> {
    let failed = |source| SuiteError::Read { path: folder.into(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}
