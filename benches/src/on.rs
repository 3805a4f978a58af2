//! The engines that isolith's part in a comparison runs on.

use crate::error::Error;
use isolith_auto::{Auto, DEFAULT_AFTER};
use isolith_core::Engine;
use isolith_quickjs::{QuickJs, process};
use isolith_v8::{Launch, V8, install};
use std::process::ExitCode;
use std::sync::Arc;

/// What measured programs run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// The engine that starts in microseconds.
    #[default]
    Quickjs,
    /// The same in a jailed process.
    Process,
    /// V8.
    V8,
    /// The first, and V8 when a program computes for long.
    Auto,
}

/// What this executable is called with to be a worker, of either kind.
const V8_WORKER: &str = "v8-worker";
const QUICKJS_WORKER: &str = "quickjs-worker";
/// Workers that are kept ready.
const READY: usize = 4;

/// What a supervisor started instead of a measurement, if it did. To be asked first thing in `main`.
pub fn worker() -> Option<ExitCode> {
    match std::env::args().nth(1)?.as_str() {
        V8_WORKER => Some(isolith_jail::worker::main(isolith_v8::worker::V8_INSIDE)),
        QUICKJS_WORKER => Some(isolith_jail::worker::main(process::QUICKJS_INSIDE)),
        _ => None,
    }
}

impl On {
    /// The engine, for this many isolates at one time. To be called inside a runtime.
    pub(crate) fn engine(self, live: u32) -> Result<Arc<dyn Engine>, Error> {
        match self {
            On::Quickjs => Ok(Arc::new(quickjs(live)?)),
            On::Process => {
                let options = isolith_jail::Options { live, ready: READY, ..isolith_jail::Options::default() };
                let started = process::jailed(launch(QUICKJS_WORKER)?, options);
                Ok(Arc::new(started.map_err(|error| missing(&error))?))
            }
            On::V8 => v8(live),
            On::Auto => On::auto_and_first(live).map(|[auto, _]| auto),
        }
    }

    /// The engine `auto`, and the one on which its runs begin.
    pub(crate) fn auto_and_first(live: u32) -> Result<[Arc<dyn Engine>; 2], Error> {
        // Not only when it is first wanted: a server has it ready.
        let v8 = v8(live)?;
        let make = Arc::new(move || Ok(Arc::clone(&v8)));
        let first: Arc<dyn Engine> = Arc::new(quickjs(live)?);
        Ok([Arc::new(Auto::new(Arc::clone(&first), make, DEFAULT_AFTER)), first])
    }
}

pub(crate) fn quickjs(live: u32) -> Result<QuickJs, Error> {
    // An isolate keeps the stack it last computed on, so that many which wait need as many stacks.
    let options = isolith_quickjs::Options::default();
    let computing = options.computing.max(live);
    Ok(QuickJs::new(isolith_quickjs::Options { live, computing, ..options })?)
}

fn v8(live: u32) -> Result<Arc<dyn Engine>, Error> {
    let installed = install::cached().map_err(|error| missing(&error))?;
    let options = isolith_v8::Options { live, ready: READY, ..isolith_v8::Options::default() };
    Ok(Arc::new(V8::start(&installed, launch(V8_WORKER)?, options).map_err(|error| missing(&error))?))
}

fn launch(verb: &str) -> Result<Launch, Error> {
    Ok(Launch::new(std::env::current_exe().map_err(Error::system("find this executable"))?, &[verb]))
}

fn missing(error: &dyn std::fmt::Display) -> Error {
    Error::Wrong { what: "an engine", found: error.to_string() }
}
