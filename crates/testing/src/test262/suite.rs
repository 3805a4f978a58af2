use super::assemble::{Harness, Variant};
use super::execute::execute;
use super::features::why_skipped;
use super::front_matter::FrontMatter;
use super::judge::{Verdict, judge};
use super::report::{FileVerdict, Report};
use crate::suite::{SuiteError, below, entries, read};
use isolith_core::{Engine, EngineError};
use isolith_quickjs::QuickJs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Files whose name says so belong to other tests.
const FIXTURE: &str = "_FIXTURE";

/// A checkout of the suite, or a part of one.
#[derive(Debug)]
pub struct Suite {
    root: PathBuf,
    files: Vec<PathBuf>,
}

/// How a suite is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many tests are run at one time.
    pub jobs: usize,
    /// How long one may compute.
    pub limit: Duration,
}

/// Why a suite cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Test262Error {
    /// Neither the folder nor one around it is a checkout.
    #[error("`{}` is not in a checkout of test262: no folder around it has `harness` and `test` in it", .0.display())]
    NotASuite(PathBuf),
    /// A path that cannot be looked at.
    #[error("cannot open `{}`", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file or folder.
    #[error(transparent)]
    Read(#[from] SuiteError),
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A thread cannot be made ready.
    #[error("cannot start a thread for tests")]
    Runtime(#[source] io::Error),
}

impl Suite {
    /// Looks for tests in a folder, or takes one test. `filter` is a part of their paths.
    pub fn open(path: &Path, filter: Option<&str>) -> Result<Suite, Test262Error> {
        let path = path.canonicalize().map_err(|source| Test262Error::Open { path: path.into(), source })?;
        let is_root = |folder: &&Path| folder.join("harness").is_dir() && folder.join("test").is_dir();
        let root = path.ancestors().find(is_root).ok_or_else(|| Test262Error::NotASuite(path.clone()))?.to_path_buf();
        let tests = root.join("test");
        let mut files = Vec::new();
        collect(if path == root { &tests } else { &path }, &mut files)?;
        files.retain(|file| filter.is_none_or(|part| below(&tests, file).contains(part)));
        files.sort();
        Ok(Suite { root, files })
    }

    /// How many tests there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Runs every test. `done` hears of each.
    pub fn run(&self, options: Options, done: &(dyn Fn() + Sync)) -> Result<Report, Test262Error> {
        let began = Instant::now();
        let jobs = options.jobs.max(1);
        let engine = QuickJs::new(isolith_quickjs::Options {
            live: jobs as u32,
            computing: jobs as u32,
            test262: true,
            ..isolith_quickjs::Options::default()
        })?;
        let run = Run {
            suite: self,
            engine: &engine,
            harness: Harness::new(&self.root),
            limit: options.limit,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            report: Mutex::new(Report::default()),
        };
        let results: Vec<Result<(), Test262Error>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(|| run.work(done))).collect();
            let died = || Err(Test262Error::Runtime(io::Error::other("it died")));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect()
        });
        results.into_iter().collect::<Result<(), _>>()?;
        let mut report = run.report.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.sort();
        report.elapsed_ms = began.elapsed().as_millis() as u64;
        Ok(report)
    }
}

/// A suite being run.
struct Run<'a> {
    suite: &'a Suite,
    engine: &'a QuickJs,
    harness: Harness,
    limit: Duration,
    next: AtomicUsize,
    stop: AtomicBool,
    report: Mutex<Report>,
}

impl Run<'_> {
    /// Runs tests until none is left.
    fn work(&self, done: &(dyn Fn() + Sync)) -> Result<(), Test262Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Test262Error::Runtime)?;
        while let Some(path) = self.suite.files.get(self.next.fetch_add(1, SeqCst)) {
            if self.stop.load(SeqCst) {
                break;
            }
            let source = read(path).inspect_err(|_| self.stop.store(true, SeqCst))?;
            let name = below(&self.suite.root.join("test"), path);
            let (matter, verdict) = match FrontMatter::parse(&source) {
                Ok(matter) => {
                    let verdict = self.file(&runtime, path, &name, &source, &matter);
                    (matter, verdict)
                }
                Err(error) => (FrontMatter::default(), FileVerdict::NotUnderstood(error.to_string())),
            };
            self.report.lock().unwrap_or_else(PoisonError::into_inner).add(&name, &matter, verdict);
            done();
        }
        Ok(())
    }

    fn file(&self, runtime: &Runtime, path: &Path, name: &str, source: &str, matter: &FrontMatter) -> FileVerdict {
        if let Some(reason) = why_skipped(name, matter) {
            return FileVerdict::Skipped(reason);
        }
        let module_name = below(&self.suite.root, path);
        let run = |variant| (variant, self.variant(runtime, &module_name, source, matter, variant));
        FileVerdict::Ran(Variant::of(matter).into_iter().map(run).collect())
    }

    fn variant(&self, runtime: &Runtime, name: &str, source: &str, matter: &FrontMatter, variant: Variant) -> Verdict {
        let program = match self.harness.assemble(name, source, matter, variant) {
            Ok(program) => program,
            Err(error) => return Verdict::Failed(error.to_string()),
        };
        let engine: &dyn Engine = self.engine;
        // A panic is a bug of ours that this one test has found.
        let ran = catch_unwind(AssertUnwindSafe(|| runtime.block_on(execute(engine, &program, self.limit))));
        match ran {
            Ok(Ok(ran)) => judge(matter, &ran),
            Ok(Err(not_run)) => Verdict::Failed(not_run.to_string()),
            Err(_) => Verdict::Failed("the engine panicked".into()),
        }
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), SuiteError> {
    if path.is_dir() {
        return entries(path)?.iter().try_for_each(|entry| collect(entry, files));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(".js") && !name.contains(FIXTURE) {
        files.push(path.into());
    }
    Ok(())
}
