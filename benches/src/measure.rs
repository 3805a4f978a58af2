use crate::cold::Cold;
use crate::error::Error;
use crate::lab::Lab;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::options::Options;
use crate::report::{Goal, Report, Row, Skipped, thousands};
use crate::{calls, child, compute, programs, start, suspend, throughput};
use isolith_core::Engine;
use tokio::runtime::{Builder, Runtime};

/// How many isolates the measurements in this process need at one time.
const LIVE: u32 = 100;
/// How many suspended runs the averages are taken over.
const STORED: [u32; 2] = [1_000, 10_000];
/// How many live isolates memory is measured with.
const IDLE: [u32; 2] = [1_000, 10_000];

const GROUPS: [&str; 8] = ["start", "program", "call", "suspend", "memory", "throughput", "cold", "compute"];

/// Measures isolith on the machine at hand. Says on the way which group comes next.
///
/// It makes runtimes of its own, so it must not be called from inside one.
pub fn measure(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
    let machine = Machine::here();
    let lab = Lab::new(LIVE, options.mode)?;
    let runtime = runtime()?;
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").into(),
        image: lab.engine.image().to_string(),
        mode: options.mode,
        machine,
        rows: Vec::new(),
        skipped: Vec::new(),
    };
    let wanted = |group: &&str| options.only.as_ref().is_none_or(|only| group.starts_with(only.as_str()));
    for group in GROUPS.into_iter().filter(wanted) {
        progress(group);
        let mut skip = |why: String| report.skipped.push(Skipped { group: group.into(), why });
        let rows = match group {
            "start" => runtime.block_on(start::rows(&lab))?,
            "program" => runtime.block_on(programs::rows(&lab))?,
            "call" => runtime.block_on(calls::rows(&lab))?,
            "suspend" => runtime.block_on(suspend::rows(&lab))?,
            "memory" => {
                let mut rows = idle(options, &mut skip);
                for count in STORED {
                    rows.push(runtime.block_on(suspend::stored(&lab, count))?);
                }
                rows
            }
            "throughput" => throughput::rows(&lab)?,
            "cold" => cold(options, &mut skip),
            _ => runtime.block_on(compute::rows(&lab))?,
        };
        let command = format!("{} --only {group}", options.command);
        report.rows.extend(rows.into_iter().map(|row| Row { command: command.clone(), ..row }));
    }
    Ok(report)
}

/// A runtime that computes on the thread that waits for it, so that the thread's clock sees everything.
pub(crate) fn runtime() -> Result<Runtime, Error> {
    Builder::new_current_thread().enable_all().build().map_err(Error::system("make a runtime"))
}

fn idle(options: &Options, skip: &mut dyn FnMut(String)) -> Vec<Row> {
    let Some(command) = &options.child else {
        skip("memory needs a process of its own".into());
        return Vec::new();
    };
    let mut rows = Vec::new();
    for count in IDLE {
        match child::ask::<Memory>(command, &format!("memory:{count}")) {
            Ok(memory) => {
                let private = Row::new(
                    format!("memory.live.{count}"),
                    format!("live idle isolate, private, {} of them", thousands(count.into())),
                    memory.private_kib,
                    "KiB",
                );
                rows.push(private.goal(Goal::AtMost(150.0)));
                rows.push(Row::new(
                    format!("memory.tables.{count}"),
                    format!("the kernel's page tables for it, {} of them", thousands(count.into())),
                    memory.tables_kib,
                    "KiB",
                ));
            }
            Err(error) => skip(format!("{count} isolates: {error}")),
        }
    }
    rows
}

fn cold(options: &Options, skip: &mut dyn FnMut(String)) -> Vec<Row> {
    let (Some(command), Some(exe)) = (&options.child, &options.exe) else {
        skip("no binary was named".into());
        return Vec::new();
    };
    let times = options.mode.pick(10, 20);
    match child::ask::<Cold>(command, &format!("cold:{times}:{}", exe.display())) {
        Ok(cold) => vec![
            Row::new("cold.wall", "`isolith run hello.ts`, whole process, by the wall", cold.wall_us / 1e3, "ms")
                .goal(Goal::AtMost(15.0)),
            Row::new("cold.cpu", "the same, computing", cold.cpu_us / 1e3, "ms"),
            Row::new("cold.resident", "its memory at its largest", cold.resident_mb, "MB").goal(Goal::AtMost(40.0)),
        ],
        Err(error) => {
            skip(error.to_string());
            Vec::new()
        }
    }
}
