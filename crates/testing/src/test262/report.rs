use super::assemble::Variant;
use super::front_matter::FrontMatter;
use super::judge::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// How many parts of a path name a folder in the summary.
const FOLDER_PARTS: usize = 2;

/// What came of a suite. A file counts once: as failed when any of its modes failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// All files.
    pub total: Tally,
    /// Programs that were run: a file may be run in sloppy and in strict mode.
    pub runs: u32,
    /// By folder.
    pub folders: BTreeMap<String, Tally>,
    /// By feature; a file may use several.
    pub features: BTreeMap<String, Tally>,
    /// Why files were not run, and how many.
    pub skips: BTreeMap<String, u32>,
    /// Everything that failed.
    pub failures: Vec<Broken>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// Counts of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Passed in every mode.
    pub passed: u32,
    /// Failed in one mode or more.
    pub failed: u32,
    /// Not run.
    pub skipped: u32,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Broken {
    /// The path of the test below `test/`.
    pub test: String,
    /// In which mode; nothing when the test could not be understood at all.
    pub variant: Option<Variant>,
    /// Why.
    pub reason: String,
}

/// What came of one file.
pub(crate) enum FileVerdict {
    Ran(Vec<(Variant, Verdict)>),
    Skipped(String),
    NotUnderstood(String),
}

impl Report {
    pub(crate) fn add(&mut self, name: &str, matter: &FrontMatter, verdict: FileVerdict) {
        let tally = match verdict {
            FileVerdict::Skipped(reason) => {
                *self.skips.entry(reason).or_default() += 1;
                Tally { skipped: 1, ..Tally::default() }
            }
            FileVerdict::NotUnderstood(reason) => {
                self.failures.push(Broken { test: name.into(), variant: None, reason });
                Tally { failed: 1, ..Tally::default() }
            }
            FileVerdict::Ran(runs) => {
                self.runs += runs.len() as u32;
                let before = self.failures.len();
                for (variant, verdict) in runs {
                    if let Verdict::Failed(reason) = verdict {
                        self.failures.push(Broken { test: name.into(), variant: Some(variant), reason });
                    }
                }
                let failed = self.failures.len() > before;
                Tally { passed: (!failed).into(), failed: failed.into(), skipped: 0 }
            }
        };
        self.total.add(tally);
        self.folders.entry(folder(name)).or_default().add(tally);
        for feature in &matter.features {
            self.features.entry(feature.clone()).or_default().add(tally);
        }
    }

    /// Brings everything into one order, whatever the order in which tests came to their end.
    pub(crate) fn sort(&mut self) {
        self.failures.sort();
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for broken in &self.failures {
            let _ = writeln!(out, "FAIL {broken}");
        }
        table(&mut out, "folder", &self.folders);
        table(&mut out, "feature", &self.features);
        if !self.skips.is_empty() {
            let _ = writeln!(out, "\n{:>7}  not run because", "");
        }
        for (reason, count) in &self.skips {
            let _ = writeln!(out, "{count:>7}  {reason}");
        }
        let Tally { passed, failed, skipped } = self.total;
        let seconds = self.elapsed_ms as f64 / 1000.0;
        let _ = writeln!(
            out,
            "\n{passed} passed, {failed} failed, {skipped} skipped; {} runs in {seconds:.1} s",
            self.runs
        );
        out
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant {
            Some(variant) => write!(f, "{} ({variant}): {}", self.test, self.reason),
            None => write!(f, "{}: {}", self.test, self.reason),
        }
    }
}

fn folder(name: &str) -> String {
    let folders = name.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').take(FOLDER_PARTS).collect::<Vec<_>>().join("/")
}

fn table(out: &mut String, what: &str, rows: &BTreeMap<String, Tally>) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{:>7} {:>7} {:>7}  {what}", "passed", "failed", "skipped");
    for (name, Tally { passed, failed, skipped }) in rows {
        let _ = writeln!(out, "{passed:>7} {failed:>7} {skipped:>7}  {name}");
    }
}
