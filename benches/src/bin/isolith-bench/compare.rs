use crate::goals::{self, Standing};
use crate::peers::{Hello, Peer};
use crate::results::{Entry, Participant, Results, Row, Value};
use isolith_bench::{
    CALL_PAYLOADS, HELLO, IDLE, Job, KERNELS, Kernel, Line, Machine, Measured, Mode, TRIVIAL, Times, Work, calling,
    heavy, spawn,
};
use std::collections::BTreeMap;
use std::error::Error;

/// What to compare, and how long to take over it.
pub(crate) struct Setup {
    pub(crate) mode: Mode,
    pub(crate) peers: Vec<Peer>,
    /// What a person typed.
    pub(crate) command: &'static str,
    pub(crate) what: What,
}

/// What is compared, and by which clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Isolates in one process, by what they compute.
    Isolates,
    /// Engines, some of which compute in other processes: by the wall clock.
    Engines,
}

/// How often a heavy program does a kernel: about a tenth of a second of a compiler's code.
const HEAVY: u32 = 40;
/// How often each peer has its turn in a round, where a turn is short.
const TURNS: u32 = 3;

/// How many isolates live at the same time when memory is measured.
const LIVE: u32 = 1_000;
/// The payloads that are compared.
const PAYLOADS: [&str; 3] = ["tiny", "rows_1k", "rows_100k"];

/// Everything that was measured: for a row and a peer, one value from each turn.
#[derive(Default)]
struct Measurements {
    /// By the wall clock, and not by what was computed.
    wall: bool,
    turn: u32,
    values: BTreeMap<(String, &'static str), BTreeMap<u32, Value>>,
    /// How a peer stands to another in the same process.
    ratios: BTreeMap<(String, &'static str), Vec<f64>>,
    checks: BTreeMap<String, (String, &'static str)>,
    failures: Vec<String>,
}

/// Measures all peers in turns, so that whatever else the machine does falls on each of them.
pub(crate) fn compare(setup: &Setup, note: &mut dyn FnMut(&str)) -> Result<Results, Box<dyn Error>> {
    let machine = Machine::here();
    let rounds = if setup.mode == Mode::Quick { 3 } else { 7 };
    let ms = if setup.mode == Mode::Full && setup.what == What::Isolates { 1_000 } else { 200 };
    let mut all = Measurements { wall: setup.what == What::Engines, ..Measurements::default() };
    for round in 1..=rounds {
        for job in jobs(setup.what, ms) {
            for turn in 0..turns(setup.what, &job) {
                all.turn += 1;
                let mut peers: Vec<&Peer> = setup.peers.iter().filter(|peer| takes(peer, &job)).collect();
                // There and back, so that nobody always comes after the same one: what it leaves to be cleared up differs.
                if (round + turn) % 2 == 0 {
                    peers.reverse();
                }
                for peer in peers {
                    note(&format!("round {round} of {rounds}: {} {}", task(&job), peer.name));
                    all.take(peer, &job)?;
                }
            }
        }
        for _ in 0..if setup.what == What::Isolates { TURNS } else { 0 } {
            all.turn += 1;
            for peer in &setup.peers {
                note(&format!("round {round} of {rounds}: cold start {}", peer.name));
                all.take_cold(peer)?;
            }
        }
    }
    let participants = setup.peers.iter().map(|peer| Participant {
        name: peer.name.into(),
        version: peer.version.clone(),
        settings: match peer.hello {
            Hello::Job if peer.name == "isolith" => format!("{}: by the library here", peer.settings),
            Hello::Job | Hello::Command(_) => peer.settings.into(),
        },
    });
    Ok(Results {
        command: setup.command.into(),
        mode: setup.mode,
        rounds,
        machine,
        peers: participants.collect(),
        standings: if setup.what == What::Engines { all.standings(&rows(setup.what)) } else { Vec::new() },
        rows: rows(setup.what).into_iter().map(|row| all.fill(row, &setup.peers)).collect(),
        failures: all.failures,
    })
}

fn jobs(what: What, ms: u64) -> Vec<Job> {
    let calls = CALL_PAYLOADS.iter().filter(|payload| PAYLOADS.contains(&payload.name)).map(|payload| Work {
        id: format!("call.{}", payload.name),
        source: calling(payload, payload.count),
        count: payload.count,
    });
    let kernels = KERNELS.iter().map(|k| Work { id: format!("compute.{}", k.name), source: k.source.into(), count: 1 });
    // Each on its own, so that all peers have done one before the machine is another.
    let repeated = |id: &'static str, times: fn(&Kernel) -> u32| {
        let work = move |k: &Kernel| Work { id: format!("{id}{}", k.name), source: heavy(k, times(k)), count: 1 };
        KERNELS.iter().map(move |kernel| Job::Kernels { programs: vec![work(kernel)] })
    };
    let fresh = Job::Fresh { ms, source: TRIVIAL.into() };
    let programs: Vec<Work> = calls.collect();
    let ratios = Job::Ratios { ms, source: TRIVIAL.into(), programs: programs.clone() };
    let calls = Job::Calls { ms, programs };
    if what == What::Engines {
        let kernels = repeated(HEAVY_ROWS, |_| HEAVY).chain(repeated(LONG_ROWS, |k| k.long));
        return [fresh, calls, ratios].into_iter().chain(kernels).collect();
    }
    vec![fresh, calls, Job::Kernels { programs: kernels.collect() }, Job::Memory { count: LIVE, source: IDLE.into() }]
}

/// How the rows of heavy and of long programs begin.
const HEAVY_ROWS: &str = "heavy.";
const LONG_ROWS: &str = "long.";

fn is_long(job: &Job) -> bool {
    matches!(job, Job::Kernels { programs } if programs.iter().any(|work| work.id.starts_with(LONG_ROWS)))
}

fn takes(peer: &Peer, job: &Job) -> bool {
    match job {
        Job::Ratios { .. } => goals::ENGINES.iter().any(|goal| goal.in_one_process && goal.of == peer.name),
        // The interpreters would take minutes over what is long.
        job => peer.long || !is_long(job),
    }
}

/// How often a peer has its turn with a job in a round. What differs by a twentieth is told apart by many short turns, and not by
/// few long ones: what disturbs the machine lasts for seconds.
fn turns(what: What, job: &Job) -> u32 {
    match job {
        Job::Fresh { .. } | Job::Calls { .. } | Job::Ratios { .. } if what == What::Engines => 2 * TURNS,
        long if is_long(long) => TURNS,
        _ => 1,
    }
}

fn task(job: &Job) -> &'static str {
    match job {
        Job::Fresh { .. } => "fresh isolates",
        Job::Calls { .. } => "tool calls",
        Job::Ratios { .. } => "light programs",
        Job::Kernels { .. } => "computing",
        Job::Memory { .. } => "memory",
        Job::Hello { .. } => "cold start",
    }
}

/// How many measurements a job gives at least.
fn results_of(job: &Job) -> usize {
    match job {
        Job::Calls { programs, .. } | Job::Kernels { programs } => programs.len(),
        Job::Ratios { programs, .. } => 1 + programs.len(),
        Job::Fresh { .. } | Job::Memory { .. } | Job::Hello { .. } => 1,
    }
}

fn rows(what: What) -> Vec<Row> {
    let row = |id: &str, what: &str, unit: &str| Row {
        id: id.into(),
        what: what.into(),
        unit: unit.into(),
        entries: BTreeMap::new(),
    };
    if what == What::Engines {
        let mut rows = vec![
            row("fresh", "fresh run of `return 1+1`, one after the other", "µs"),
            row("call.tiny", "tool call, tiny", "µs"),
            row("call.rows_1k", "tool call, 1 KB of rows", "µs"),
            row("call.rows_100k", "tool call, 100 KB of rows", "µs"),
        ];
        let repeated = |id: &str, k: &Kernel, times: u32| {
            row(&format!("{id}{}", k.name), &format!("{}: {}, {times} times", k.name, k.what), "ms")
        };
        rows.extend(KERNELS.iter().map(|k| repeated(HEAVY_ROWS, k, HEAVY)));
        rows.extend(KERNELS.iter().map(|k| repeated(LONG_ROWS, k, k.long)));
        return rows;
    }
    let mut rows = vec![
        row("fresh", "fresh isolate, `return 1+1`, gone (CPU)", "µs"),
        row("fresh.source", "the same from TypeScript, with a receipt (CPU)", "µs"),
        row("call.tiny", "tool call, tiny (CPU)", "µs"),
        row("call.rows_1k", "tool call, 1 KB of rows (CPU)", "µs"),
        row("call.rows_100k", "tool call, 100 KB of rows (CPU)", "µs"),
    ];
    rows.extend(
        KERNELS.iter().map(|k| row(&format!("compute.{}", k.name), &format!("{}: {} (CPU)", k.name, k.what), "ms")),
    );
    rows.push(row("memory", "memory of an idle isolate, 1,000 live", "KiB"));
    rows.push(row("cold", "cold process to result (wall)", "ms"));
    rows.push(row("cold.memory", "its memory at its largest", "MB"));
    rows
}

impl Measurements {
    fn take(&mut self, peer: &Peer, job: &Job) -> Result<(), Box<dyn Error>> {
        let done = spawn(&mut peer.command(job)?)?;
        let lines: Result<Vec<Line>, _> = done.stdout.lines().map(serde_json::from_str).collect();
        match lines {
            // Whoever falls over on the way out has done the work all the same.
            Ok(lines) if lines.len() >= results_of(job) => {
                lines.into_iter().for_each(|line| self.take_line(peer, line));
            }
            Ok(_) | Err(_) => self.fail(format!("{}: {} did not work", peer.name, task(job))),
        }
        Ok(())
    }

    fn take_line(&mut self, peer: &Peer, line: Line) {
        if let Some(check) = line.check {
            let (known, by) = self.checks.entry(line.id.clone()).or_insert_with(|| (check.clone(), peer.name));
            if *known != check {
                let failure = format!("{}: {} computed something else than {by}", peer.name, line.id);
                self.fail(failure);
                return;
            }
        }
        let value = match line.measured {
            Measured::Times(Times { cpu_us, wall_us }) => {
                let computes = ["compute.", HEAVY_ROWS, LONG_ROWS].iter().any(|row| line.id.starts_with(row));
                let unit = if computes { 1e3 } else { 1.0 };
                Value::of(if self.wall { wall_us } else { cpu_us } / unit, wall_us / unit)
            }
            // What is shared counts once, and the tables that map it count too.
            Measured::Memory(memory) => {
                Value { value: memory.share_kib + memory.tables_kib, wall: None, resident: Some(memory.resident_kib) }
            }
            Measured::Ratio { ratio } => return self.ratios.entry((line.id, peer.name)).or_default().push(ratio),
        };
        self.values.entry((line.id, peer.name)).or_default().insert(self.turn, value);
    }

    fn take_cold(&mut self, peer: &Peer) -> Result<(), Box<dyn Error>> {
        let done = spawn(&mut peer.hello()?)?;
        if !done.ok || !done.stdout.contains(HELLO.1) {
            self.fail(format!("{}: cold start did not work", peer.name));
            return Ok(());
        }
        let mut insert = |id: &str, value| {
            let value = Value { value, wall: None, resident: None };
            self.values.entry((id.into(), peer.name)).or_default().insert(self.turn, value);
        };
        insert("cold", done.wall.as_secs_f64() * 1e3);
        insert("cold.memory", done.resident_kib as f64 * 1024.0 / 1e6);
        Ok(())
    }

    fn fail(&mut self, failure: String) {
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    fn fill(&self, mut row: Row, peers: &[Peer]) -> Row {
        for peer in peers {
            if let Some(values) = self.values.get(&(row.id.clone(), peer.name)) {
                row.entries.insert(peer.name.into(), Entry::of(values.values()));
            }
        }
        row
    }

    fn standings(&self, rows: &[Row]) -> Vec<Standing> {
        let pairs = goals::ENGINES.iter().flat_map(|goal| rows.iter().map(move |row| (goal, row)));
        let about = pairs.filter(|(goal, row)| goal.is_about(&row.id));
        let standing = about.filter_map(|(goal, row)| {
            if goal.in_one_process {
                return goal.standing(&row.what, self.ratios.get(&(row.id.clone(), goal.of))?);
            }
            let of = self.values.get(&(row.id.clone(), goal.of))?;
            let to = self.values.get(&(row.id.clone(), goal.to))?;
            let ratios = of.iter().filter_map(|(turn, of)| Some(of.value / to.get(turn)?.value));
            goal.standing(&row.what, &ratios.collect::<Vec<_>>())
        });
        standing.collect()
    }
}
