use crate::cold::Cold;
use crate::error::Error;
use crate::lab::Lab;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::options::Options;
use crate::report::{Goal, Report, Row, Skipped, thousands};
use crate::{calls, child, compute, gate, programs, start, suspend, throughput};
use tokio::runtime::{Builder, Runtime};

/// How many isolates the measurements in this process need at one time.
const LIVE: u32 = 100;
/// How many suspended runs the averages are taken over.
const STORED: [u32; 2] = [1_000, 10_000];
/// How many live isolates memory is measured with.
const IDLE: [u32; 2] = [1_000, 10_000];

/// How often a full measurement goes over everything.
const ROUNDS: u32 = 5;

/// The group that gives the same in every round, and takes longest.
const MEMORY: &str = "memory";

const GROUPS: [&str; 9] = ["start", "program", "call", "gate", "suspend", MEMORY, "throughput", "cold", "compute"];

/// Measures isolith on the machine at hand. Says on the way what comes next.
///
/// A full measurement goes over everything in several rounds, so that what disturbs the machine for a while spoils a round
/// and not a row: each row is the median of its rounds. It makes runtimes of its own, so it must not be called from inside
/// one.
pub fn measure(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
    let machine = Machine::here();
    let bench = Bench { options, lab: Lab::new(LIVE, options.mode)?, runtime: runtime()? };
    let rounds = options.mode.pick(1, ROUNDS);
    let wanted = |group: &&str| options.only.as_ref().is_none_or(|only| group.starts_with(only.as_str()));
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for group in GROUPS.into_iter().filter(wanted).filter(|group| *group == MEMORY) {
        progress(group);
        rows.extend(bench.group(group, &mut skipped)?);
    }
    for round in 1..=rounds {
        for group in GROUPS.into_iter().filter(wanted).filter(|group| *group != MEMORY) {
            progress(&if rounds == 1 { group.into() } else { format!("{group}, round {round} of {rounds}") });
            rows.extend(bench.group(group, &mut skipped)?);
        }
    }
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").into(),
        image: bench.lab.engine.image().to_string(),
        mode: options.mode,
        machine,
        rows: merged(rows),
        skipped,
    })
}

struct Bench<'a> {
    options: &'a Options,
    lab: Lab,
    runtime: Runtime,
}

impl Bench<'_> {
    fn group(&self, group: &str, skipped: &mut Vec<Skipped>) -> Result<Vec<Row>, Error> {
        let Bench { options, lab, runtime } = self;
        let mut skip = |why: String| {
            let skip = Skipped { group: group.into(), why };
            if !skipped.contains(&skip) {
                skipped.push(skip);
            }
        };
        let rows = match group {
            "start" => runtime.block_on(start::rows(lab))?,
            "program" => runtime.block_on(programs::rows(lab))?,
            "call" => runtime.block_on(calls::rows(lab))?,
            "gate" => runtime.block_on(gate::rows(lab))?,
            "suspend" => runtime.block_on(suspend::rows(lab))?,
            MEMORY => {
                let mut rows = idle(options, &mut skip);
                for count in STORED {
                    rows.push(runtime.block_on(suspend::stored(lab, count))?);
                }
                rows
            }
            "throughput" => throughput::rows(lab)?,
            "cold" => cold(options, &mut skip),
            _ => runtime.block_on(compute::rows(lab))?,
        };
        let command = format!("{} --only {group}", options.command);
        Ok(rows.into_iter().map(|row| Row { command: command.clone(), ..row }).collect())
    }
}

/// One row for each id, in the order of the groups.
fn merged(rows: Vec<Row>) -> Vec<Row> {
    let mut by_id: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match by_id.iter_mut().find(|known| known[0].id == row.id) {
            Some(known) => known.push(row),
            None => by_id.push(vec![row]),
        }
    }
    by_id.sort_by_key(|rounds| GROUPS.iter().position(|group| *group == rounds[0].group()));
    by_id.into_iter().filter_map(Row::median).collect()
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
    let times = options.mode.pick(10, 5);
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
