//! Many runs in one process, good and hostile ones mixed: every one ends as it should, and the process stays what it
//! was. The programs are in `soak/`, in the format of the conformance suite: those in `soak/costly` use up milliseconds
//! before a limit ends them.

use isolith_runner::Runner;
use isolith_testing::{Case, Fixtures, Late, check, conformance, engines, open_files, resident_bytes, run};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::runtime::Builder;

/// How many runs; the environment may say otherwise.
const RUNS: usize = 10_000;
const RUNS_VARIABLE: &str = "ISOLITH_SOAK_RUNS";
const THREADS: usize = 2;
/// How often each of the light programs comes for one time that each of the costly ones does.
const LIGHT_TIMES: usize = 3;
const COSTLY: &str = "costly/";
/// After this part of the runs, every program has been run often: from here on nothing may grow.
const WARM_PART: usize = 5;
/// How much larger the process may be at the end than when it was warm: what the allocator may still take.
const GROWTH_BYTES_MAX: u64 = 8 << 20;

/// What the process has.
#[derive(Debug)]
struct Size {
    resident_bytes: u64,
    files: usize,
}

impl Size {
    fn now() -> std::io::Result<Size> {
        Ok(Size { resident_bytes: resident_bytes()?, files: open_files()? })
    }
}

#[test]
fn runs_end_as_they_should_and_leave_nothing_behind() -> Result<(), Box<dyn Error>> {
    let runs = std::env::var(RUNS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    let cases = programs()?;
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    for engine in engines()? {
        let runner = Runner::new(engine);
        // Rounds are whole: each part of the runs has the same programs.
        let round = |runs: usize| runs.div_ceil(cases.len()) * cases.len();
        let soak = |runs| runtime.block_on(rounds(runner.clone(), Arc::clone(&cases), runs));
        let warm_runs = round(runs / WARM_PART);
        soak(warm_runs)?;
        let warm = Size::now()?;
        soak(round(runs - runs / WARM_PART))?;
        let end = Size::now()?;
        let grown = end.resident_bytes.saturating_sub(warm.resident_bytes);
        assert!(grown <= GROWTH_BYTES_MAX, "memory grew by {} KiB: {warm:?}, {end:?}", grown >> 10);
        assert_eq!(end.files, warm.files, "files are left open");
    }
    Ok(())
}

/// One round: the programs, each as often as it is to come.
fn programs() -> Result<Arc<[Case]>, Box<dyn Error>> {
    let mut round = Vec::new();
    for (path, case) in conformance(Path::new("soak"))? {
        let times = if path.starts_with(COSTLY) { 1 } else { LIGHT_TIMES };
        round.extend(std::iter::repeat_n(case?, times));
    }
    Ok(round.into())
}

/// Runs that many programs, on as many tasks as there are threads.
async fn rounds(runner: Runner, cases: Arc<[Case]>, runs: usize) -> Result<(), Box<dyn Error>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..THREADS {
        let (runner, cases, next) = (runner.clone(), Arc::clone(&cases), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, SeqCst);
                if number >= runs {
                    return Ok(());
                }
                let case = &cases[number % cases.len()];
                one(&runner, case).await.map_err(|error| format!("run {number}, {}: {error}", case.file))?;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended?.map_err(|error: String| error)?;
    }
    Ok(())
}

async fn one(runner: &Runner, case: &Case) -> Result<(), String> {
    let fixtures =
        Arc::new(Fixtures::new(case.header.tools.iter().copied()).with_namespaces(case.header.namespaces.clone()));
    let plan = case.plan().map_err(|error| error.to_string())?;
    let outcome = run(runner, plan, &fixtures).await.map_err(|error| error.to_string())?;
    check(case, &outcome).map_err(|mismatch| mismatch.to_string())?;
    let (listed, made, late) = (outcome.calls.len() as u32, fixtures.performed(), fixtures.late());
    match (listed == made, late == Late::default()) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("{made} calls were made, {listed} are listed")),
        (true, false) => Err(format!("after the result: {late:?}")),
    }
}
