//! The whole conformance suite on another isolith: every isolate lives in a process of `isolith serve`, as one test each.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_remote::Remote;
use isolith_runner::Runner;
use isolith_testing::{Case, Fixtures, check, conformance, conformance_root, run, steady};
use libtest_mimic::{Arguments, Failed, Trial};
use std::error::Error;
use std::sync::Arc;
use support::server::serve;
use tokio::runtime::{Builder, Runtime};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Builder::new_multi_thread().enable_all().build()?);
    let folder = support::folder();
    let server = serve(&folder, &[]);
    let engine = runtime.block_on(Remote::connect(&format!("http://{}", server.address), None))?;
    let runner = Runner::new(Arc::new(engine));
    let mut trials = Vec::new();
    for (path, case) in conformance(&conformance_root())? {
        let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name);
        let (runner, runtime) = (runner.clone(), Arc::clone(&runtime));
        trials.push(Trial::test(format!("remote::{name}"), move || {
            let case = Arc::new(case.map_err(|error| Failed::from(format!("{path}: {error}")))?);
            test(&runtime, &runner, &case)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Exiting would leave it behind.
    drop(server);
    conclusion.exit()
}

fn test(runtime: &Runtime, runner: &Runner, case: &Arc<Case>) -> Result<(), Failed> {
    let first = runtime.block_on(runtime.spawn(outcome(runner.clone(), Arc::clone(case))))??;
    check(case, &first)?;
    if case.header.is_repeatable() {
        let second = runtime.block_on(runtime.spawn(outcome(runner.clone(), Arc::clone(case))))??;
        let [first, second] = [first, second].map(|outcome| serde_json::to_string(&steady(case, outcome)));
        let (first, second) = (first?, second?);
        if first != second {
            return Err(format!("two runs differ:\n{first}\n{second}").into());
        }
    }
    Ok(())
}

async fn outcome(runner: Runner, case: Arc<Case>) -> Result<isolith_core::Outcome, Failed> {
    let fixtures = Fixtures::new(case.header.tools.iter().copied());
    let fixtures = Arc::new(fixtures.with_namespaces(case.header.namespaces.clone()));
    Ok(run(&runner, case.plan()?, &fixtures).await?)
}
