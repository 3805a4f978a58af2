//! Engines that do not come along: fetched, listed, removed and started.

use crate::args::{Elsewhere, Engine, Installable};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, QUIET};
use crate::progress::Spinner;
use crate::{Done, job, show};
use isolith_quickjs::process::{self, Jailed};
use isolith_v8::install::{self, InstallError, Installed};
use isolith_v8::{JailMode, Launch, Options, V8};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What this executable is called with to be a worker of V8, or of QuickJS. Nobody types it.
const WORKER: &str = "v8-worker";
const QUICKJS_WORKER: &str = "quickjs-worker";
const HINT: &str = "`isolith engine install v8` fetches it by pip, and `--from FILE` takes its wheel";

/// What a supervisor started instead of a command, if it did.
pub(crate) fn worker() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let verb = args.next().filter(|_| args.len() == 0)?;
    match verb.to_str()? {
        WORKER => Some(isolith_v8::worker::main(isolith_v8::worker::V8_INSIDE)),
        QUICKJS_WORKER => Some(process::worker(process::QUICKJS_INSIDE)),
        _ => None,
    }
}

pub(crate) fn engine(args: Engine) -> Done {
    match args {
        Engine::Install { engine: Installable::V8, from, json } => install_v8(from.as_deref(), json),
        Engine::List { json } => list(json),
        Engine::Remove { engine: Installable::V8 } => {
            found()?.remove().map_err(|error| Failure::usage(error, "remove the folder by hand"))?;
            Ok(Exit::Ok)
        }
    }
}

fn install_v8(from: Option<&str>, as_json: bool) -> Done {
    let folder = folder()?;
    let spinner = if as_json { Spinner::none() } else { Spinner::new("fetching V8") };
    let installed = match from {
        None => install::by_pip(&folder),
        Some(url) if url.contains("://") => install::from_url(url, &folder),
        Some(file) => install::from_wheel(Path::new(file), &folder),
    };
    spinner.done();
    let installed = installed.map_err(|error| Failure::usage(error, "`--from FILE` takes the wheel from elsewhere"))?;
    if as_json {
        show::line(&show::to_json(&told(&installed)));
    } else {
        show::line(&described(&installed));
        paint::note(QUIET, "`isolith run --engine v8 FILE` runs a program on it");
    }
    Ok(Exit::Ok)
}

fn list(as_json: bool) -> Done {
    let v8 = match Installed::find(&folder()?) {
        Ok(installed) => Some(installed),
        Err(InstallError::Missing { .. }) => None,
        Err(error) => return Err(Failure::usage(error, HINT)),
    };
    if as_json {
        let v8 = v8.as_ref().map_or_else(|| json!({ "engine": "v8", "installed": false }), told);
        show::line(&show::to_json(&json!([{ "engine": "quickjs", "installed": true }, v8])));
        return Ok(Exit::Ok);
    }
    show::line("quickjs  comes along");
    show::line(&v8.as_ref().map_or_else(|| "v8       not installed: `isolith engine install v8`".into(), described));
    Ok(Exit::Ok)
}

pub(crate) fn described(installed: &Installed) -> String {
    format!("v8       {} (mini-racer {}, of {})", installed.v8_version(), installed.version(), installed.published())
}

fn told(installed: &Installed) -> Value {
    json!({
        "engine": "v8",
        "installed": true,
        "v8": installed.v8_version(),
        "package": installed.version(),
        "published": installed.published(),
        "sha256": installed.sha256(),
    })
}

/// Where it is kept.
fn folder() -> Result<PathBuf, Failure> {
    Ok(job::data_folder()?.path().join("engines/v8"))
}

/// The library, if it is there and the one it should be.
pub(crate) fn found() -> Result<Installed, Failure> {
    Installed::find(&folder()?).map_err(|error| Failure::usage(error, HINT))
}

/// The engine `quickjs` in processes, for so many runs at one time. To be called inside a runtime.
pub(crate) fn quickjs_in_processes(live: u32, wanted: &Elsewhere) -> Result<Jailed, Failure> {
    let exe = std::env::current_exe().map_err(|error| Failure::internal("finding this program", &error))?;
    let jail = if wanted.require_jail { JailMode::Required } else { JailMode::BestEffort };
    let options = process::Options { live, ready: 1, jail, ..process::Options::default() };
    let started = process::jailed(Launch::new(exe, &[QUICKJS_WORKER]), options);
    started.map_err(|error| Failure::usage(error, "run it without `--isolation process`, if that is safe enough"))
}

/// The engine `v8` for so many runs at one time. To be called inside a runtime.
pub(crate) fn v8(live: u32, wanted: &Elsewhere) -> Result<V8, Failure> {
    let exe = std::env::current_exe().map_err(|error| Failure::internal("finding this program", &error))?;
    let options = Options {
        live,
        ready: 1,
        jitless: wanted.jitless,
        jail: if wanted.require_jail { JailMode::Required } else { JailMode::BestEffort },
        ..Options::default()
    };
    let started = V8::start(&found()?, Launch::new(exe, &[WORKER]), options);
    started.map_err(|error| Failure::usage(error, "`isolith doctor` says what this machine offers"))
}
