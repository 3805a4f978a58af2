//! Every program under `conformance/` in V8, as one test each. What may differ is written down in `conformance/differences-v8.toml`, and a
//! row that does not differ any more fails.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use isolith_core::Outcome;
use isolith_runner::Runner;
use isolith_testing::{Case, Fixtures, check, conformance, conformance_root, run, steady};
use isolith_v8::Options;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// The most differences that there may be.
const DIFFERENCES_MAX: usize = 19;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Builder::new_multi_thread().enable_all().build()?);
    let runner = Runner::new(Arc::new(common::engine(Options::default())));
    let differences = Arc::new(differences()?);
    let mut trials = vec![table(&differences)?];
    for (path, case) in conformance(&conformance_root())? {
        let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name).to_owned();
        let (runner, runtime, differences) = (runner.clone(), Arc::clone(&runtime), Arc::clone(&differences));
        trials.push(Trial::test(format!("v8::{name}"), move || {
            let case = Arc::new(case.map_err(|error| Failed::from(format!("{path}: {error}")))?);
            let result = test(&runtime, &runner, &case);
            match (differences.get(&name), result) {
                (None, result) => result,
                (Some(_), Err(_)) => Ok(()),
                (Some(reason), Ok(())) => Err(format!("this passes, but is listed as a difference: {reason}").into()),
            }
        }));
    }
    libtest_mimic::run(&arguments, trials).exit()
}

/// The rows of the table: a program, and why it may do something else in V8.
fn differences() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let text = std::fs::read_to_string(conformance_root().join("differences-v8.toml"))?;
    Ok(toml::from_str(&text)?)
}

fn table(differences: &BTreeMap<String, String>) -> Result<Trial, Box<dyn Error>> {
    let (rows, empty) = (differences.len(), differences.values().any(|reason| reason.trim().is_empty()));
    let known: Vec<String> = conformance(&conformance_root())?.into_iter().map(|(path, _)| path).collect();
    let is_known =
        |name: &&String| !known.iter().any(|path| path.rsplit_once('.').is_some_and(|(path, _)| path == *name));
    let unknown: Vec<String> = differences.keys().filter(is_known).cloned().collect();
    Ok(Trial::test("v8::the table of differences is short and every row has a reason", move || {
        if rows > DIFFERENCES_MAX || empty || !unknown.is_empty() {
            return Err(format!("{rows} rows, unknown: {unknown:?}").into());
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
