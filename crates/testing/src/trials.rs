//! The conformance suite as tests, for the engine of whoever asks.

use crate::{Case, Fixtures, check, conformance, conformance_root, run, steady};
use isolith_core::{Engine, Outcome};
use isolith_runner::Runner;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// An engine that the suite is run on.
pub struct Suite {
    /// What its tests are called by: `quickjs` in `quickjs::values/nan-becomes-null`.
    pub name: &'static str,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Programs that may do something else there, and why. One that does not is a failure.
    pub differences: BTreeMap<String, String>,
}

/// Runs every program under `conformance/` on each engine, as one test each, as the arguments of this process say.
pub fn conformance_main(suites: Vec<Suite>) -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Builder::new_multi_thread().enable_all().build()?);
    let mut trials = Vec::new();
    for Suite { name: engine_name, engine, differences } in suites {
        let (runner, differences) = (Runner::new(engine), Arc::new(differences));
        trials.push(table(engine_name, &differences)?);
        for (path, case) in conformance(&conformance_root())? {
            let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name).to_owned();
            let (runner, runtime, differences) = (runner.clone(), Arc::clone(&runtime), Arc::clone(&differences));
            trials.push(Trial::test(format!("{engine_name}::{name}"), move || {
                let case = Arc::new(case.map_err(|error| Failed::from(format!("{path}: {error}")))?);
                let result = test(&runtime, &runner, &case);
                match (differences.get(&name), result) {
                    (None, result) => result,
                    (Some(_), Err(_)) => Ok(()),
                    (Some(reason), Ok(())) => {
                        Err(format!("this passes, but is listed as a difference: {reason}").into())
                    }
                }
            }));
        }
    }
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// Every row is about a program that there is, and says why.
fn table(engine_name: &str, differences: &BTreeMap<String, String>) -> Result<Trial, Box<dyn Error>> {
    let empty = differences.values().any(|reason| reason.trim().is_empty());
    let known: Vec<String> = conformance(&conformance_root())?.into_iter().map(|(path, _)| path).collect();
    let is_unknown =
        |name: &&String| !known.iter().any(|path| path.rsplit_once('.').is_some_and(|(path, _)| path == *name));
    let unknown: Vec<String> = differences.keys().filter(is_unknown).cloned().collect();
    Ok(Trial::test(format!("{engine_name}::every difference is of a program and has a reason"), move || {
        if empty || !unknown.is_empty() {
            return Err(format!("unknown: {unknown:?}").into());
        }
        Ok(())
    }))
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

async fn outcome(runner: Runner, case: Arc<Case>) -> Result<Outcome, Failed> {
    let fixtures =
        Arc::new(Fixtures::new(case.header.tools.iter().copied()).with_namespaces(case.header.namespaces.clone()));
    Ok(run(&runner, case.plan()?, &fixtures).await?)
}
