//! What works on this machine, and what to do where something does not.

use super::engine;
use crate::args::{Doctor, EngineSettings};
use crate::exit::Exit;
use crate::job::On;
use crate::paint::{ERROR, GOOD, QUIET};
use crate::{Done, show};
use isolith_jail::Jail;
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{Plan, Runner};
use owo_colors::{OwoColorize, Style};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    /// It works without, but slower or with less.
    Lacking,
    Broken,
}

pub(crate) fn doctor(args: Doctor) -> Done {
    let findings = [system(), processor(), memory(), pool(), page_map(), page_scan(), first_run(), process(), v8()];
    if args.json {
        show::line(&show::to_json(&findings));
    } else {
        findings.iter().for_each(Finding::print);
    }
    let broken = findings.iter().any(|f| f.state == State::Broken);
    Ok(if broken { Exit::Failed } else { Exit::Ok })
}

impl Finding {
    fn good(what: &'static str, found: impl Into<String>) -> Finding {
        Finding { what, state: State::Good, found: found.into(), hint: None }
    }

    fn new(what: &'static str, state: State, found: impl Into<String>, hint: &'static str) -> Finding {
        Finding { what, state, found: found.into(), hint: Some(hint) }
    }

    fn print(&self) {
        let (mark, style): (&str, Style) = match self.state {
            State::Good => ("ok", GOOD),
            State::Lacking => ("--", QUIET),
            State::Broken => ("!!", ERROR),
        };
        anstream::println!("{} {:<18} {}", mark.style(style), self.what, self.found);
        if let Some(hint) = self.hint {
            anstream::println!("   {:<18} hint: {hint}", "");
        }
    }
}

/// The processes that programs can have to themselves, and the walls around them.
fn process() -> Finding {
    let inspect = |workbench: super::workbench::Workbench| {
        let _inside = workbench.runtime.enter();
        let engine = engine::process(1, EngineSettings::default()).ok()?;
        workbench.runtime.block_on(engine.inspect_jail()).ok()
    };
    match super::workbench::Workbench::small(&On::default()).ok().and_then(inspect) {
        Some(jail) => walls("process", String::new(), &jail),
        None => Finding::new("process", State::Broken, "no worker starts", "the system refuses to make a process"),
    }
}

/// The engine that does not come along, and the walls around it.
fn v8() -> Finding {
    let Ok(installed) = engine::found() else {
        return Finding::new("engine v8", State::Lacking, "not installed", "`isolith engine install v8` fetches it");
    };
    let about = format!("{}, published {}; ", installed.v8_version(), installed.published());
    let inspect = |workbench: super::workbench::Workbench| {
        let _inside = workbench.runtime.enter();
        let engine = engine::v8(1, EngineSettings::default()).ok()?;
        workbench.runtime.block_on(engine.inspect_jail()).ok()
    };
    match super::workbench::Workbench::small(&On::default()).ok().and_then(inspect) {
        Some(jail) => walls("engine v8", about, &jail),
        None => Finding::new("engine v8", State::Broken, about, "it does not start: install it again"),
    }
}

fn walls(what: &'static str, about: String, jail: &Jail) -> Finding {
    let missing: Vec<&str> = jail.missing().iter().map(|report| report.wall.name()).collect();
    if missing.is_empty() {
        return Finding::good(what, format!("{about}every wall of its jail stands"));
    }
    let found = format!("{about}its jail lacks {}", missing.join(", "));
    Finding::new(what, State::Lacking, found, "the kernel, or the container this is in, refuses it")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn system() -> Finding {
    let kernel = read("/proc/sys/kernel/osrelease");
    let found = format!("isolith {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, kernel.trim());
    match std::env::consts::OS {
        "linux" => Finding::good("system", found),
        _ => Finding::new("system", State::Lacking, found, "only Linux is tested"),
    }
}

fn processor() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = read("/proc/cpuinfo");
    let model =
        info.lines().find_map(|l| l.strip_prefix("model name")).map_or("", |m| m.trim_start_matches(['\t', ' ', ':']));
    Finding::good("processor", format!("{cores} cores, {} {model}", std::env::consts::ARCH))
}

fn memory() -> Finding {
    let info = read("/proc/meminfo");
    let kib = |name: &str| -> Option<u64> {
        info.lines().find_map(|l| l.strip_prefix(name))?.split_whitespace().nth(1)?.parse().ok()
    };
    match (kib("MemTotal"), kib("MemAvailable")) {
        (Some(total), Some(free)) => {
            Finding::good("memory", format!("{} MiB, {} MiB available", total >> 10, free >> 10))
        }
        _ => Finding::new("memory", State::Lacking, "unknown", "/proc/meminfo cannot be read"),
    }
}

/// A server's pool: a thousand isolates, each with 4 GiB of address space.
fn pool() -> Finding {
    let options = Options::default();
    match QuickJs::new(options) {
        Ok(_) => Finding::good("isolates", format!("room for {} at a time", options.live)),
        Err(error) => Finding::new(
            "isolates",
            State::Broken,
            format!("no room for {}: {error}", options.live),
            "raise `ulimit -v`, or the container's limit on virtual memory",
        ),
    }
}

fn page_map() -> Finding {
    match std::fs::File::open("/proc/self/pagemap") {
        Ok(_) => Finding::good("page map", "suspending looks at written pages only"),
        Err(error) => Finding::new(
            "page map",
            State::Lacking,
            format!("suspending compares all memory: {error}"),
            "make /proc/self/pagemap readable",
        ),
    }
}

/// PAGEMAP_SCAN came with Linux 6.7.
fn page_scan() -> Finding {
    let release = read("/proc/sys/kernel/osrelease");
    let mut numbers = release.split(['.', '-']).map_while(|n| n.trim().parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 7) && Path::new("/proc/self/pagemap").exists() {
        Finding::good("page scan", "isolates are reset page by page")
    } else {
        Finding::new("page scan", State::Lacking, "isolates are reset as a whole: slower", "use Linux 6.7 or newer")
    }
}

/// The real thing, through the real doors.
fn first_run() -> Finding {
    let began = Instant::now();
    let attempt = || -> Result<String, Box<dyn std::error::Error>> {
        let workbench = super::workbench::Workbench::small(&On::default()).map_err(|_| "the engine does not start")?;
        let started = began.elapsed();
        let quiet = crate::args::Show { json: true, quiet: true };
        let attend = super::workbench::attend(
            std::sync::Arc::new(isolith_runner::NoTools),
            quiet,
            &crate::progress::Spinner::none(),
        );
        let runner: &Runner = &workbench.runner;
        let ended = workbench.runtime.block_on(runner.run(Plan::new("return 6 * 7", "doctor"), attend))?;
        let value = ended.outcome.value.map(|v| v.text().to_owned());
        if value.as_deref() != Some("42") {
            return Err(format!("6 * 7 gave {value:?}").into());
        }
        Ok(format!("engine {} ready in {:.1} ms", runner.engine().name(), started.as_secs_f64() * 1e3))
    };
    match attempt() {
        Ok(found) => Finding::good("first run", found),
        Err(error) => Finding::new("first run", State::Broken, error.to_string(), "please report this"),
    }
}
