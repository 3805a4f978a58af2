use crate::{Attend, Plan, RunError, Runner};
use isolith_core::{Act, BoxFuture, CallError, Host, Json, OutputSink, Status, Stream, Timestamp};
use isolith_gate::{Code, Invocation, Invoked, Programs};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// Programs that other programs may invoke, each in the file that its grant names, or brought along.
pub struct ProgramFiles {
    runner: Runner,
    folder: PathBuf,
}

impl ProgramFiles {
    /// Runs programs on `runner`; relative paths are relative to `folder`.
    pub fn new(runner: Runner, folder: PathBuf) -> ProgramFiles {
        ProgramFiles { runner, folder }
    }

    async fn run(&self, invocation: Invocation) -> Invoked {
        let Invocation { name, program, input, limits, ambient, gate } = invocation;
        let nothing_done = |error| Invoked { result: Err(error), acts: Vec::new() };
        let source = match program {
            None => {
                return nothing_done(failed("invoke.missing", format!("no file is given for the program `{name}`")));
            }
            Some(Code::Text(source)) => Some(source),
            Some(Code::File(file)) => read(&self.folder.join(file), limits.source_bytes),
        };
        let Some(source) = source else {
            return nothing_done(failed("invoke.missing", format!("the program `{name}` cannot be read")));
        };
        let plan = Plan { grants: gate.grants(), limits, input, ..Plan::new(source, name.as_str()) };
        let plan = plan.with_ambient(ambient);
        let attend = Attend::new(Arc::new(gate) as Arc<dyn Host>, Arc::new(Unheard));
        // Boxed, because a program that is run may run another.
        let running: BoxFuture<'_, Result<crate::Ended, RunError>> = Box::pin(self.runner.run(plan, attend));
        match running.await {
            Ok(ended) => {
                let act =
                    |call: isolith_core::CallRecord| Act { grant: call.grant, what: call.what, outcome: call.outcome };
                let acts = ended.outcome.calls.into_iter().map(act).collect();
                let result = value(ended.outcome.status, ended.outcome.value, ended.outcome.error, name.as_str());
                Invoked { result, acts }
            }
            Err(error) => nothing_done(failed("invoke.failed", format!("the program `{name}` cannot be run: {error}"))),
        }
    }
}

impl Programs for ProgramFiles {
    fn invoke(&self, invocation: Invocation) -> BoxFuture<'_, Invoked> {
        Box::pin(self.run(invocation))
    }
}

fn value(
    status: Status,
    value: Option<Json>,
    error: Option<isolith_core::RunError>,
    name: &str,
) -> Result<Option<Json>, CallError> {
    match (status, error) {
        (Status::Ok, _) => Ok(value),
        (_, Some(error)) => {
            let message = format!("the program `{name}` failed: {}: {}", error.name, error.message);
            // A refusal stays one: the caller was refused through its callee.
            let code = error.code.filter(|code| code.ends_with(".denied")).unwrap_or_else(|| "invoke.failed".into());
            Err(CallError { name: error.name, message, code: Some(code) })
        }
        _ => Err(failed("invoke.failed", format!("the program `{name}` did not end"))),
    }
}

fn read(path: &std::path::Path, bytes_max: u64) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(bytes_max + 1).read_to_string(&mut text).ok()?;
    Some(text)
}

fn failed(code: &str, message: String) -> CallError {
    CallError { name: "Error".into(), message, code: Some(code.into()) }
}

/// What an invoked program writes is its own business; what it returns is its caller's.
struct Unheard;

impl OutputSink for Unheard {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}
