use isolith_core::{
    End, Engine, EngineError, HostCall, HostReply, Limits, OutputSink, Program, Seed, Start, Step, Stream, Timestamp,
    Turn,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// When every test begins. Its clock moves only when it sleeps.
const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
/// More than any test waits.
const TURNS_MAX: usize = 10_000;
/// How much longer than it computes a test may take on a busy machine.
const WALL_FACTOR: u32 = 20;

/// What came of a program.
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) printed: Vec<String>,
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRun {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("it waits for the host, but not for a timer")]
    Waits,
    #[error("it waited more than {TURNS_MAX} times")]
    Endless,
}

/// As much as an isolate can have: the suite tests the language, not our limits.
fn limits(cpu: Duration) -> Limits {
    Limits {
        cpu,
        wall: cpu * WALL_FACTOR,
        memory_bytes: 1 << 30,
        stack_bytes: 1 << 20,
        source_bytes: 256 << 20,
        ..Limits::default()
    }
}

#[derive(Default)]
struct Printed(Mutex<Vec<String>>);

impl OutputSink for Printed {
    fn write(&self, _: Stream, text: String, _: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

/// Runs a program in a fresh isolate. Timers fire at once, in their order.
pub(crate) async fn execute(engine: &dyn Engine, program: &Program, cpu: Duration) -> Result<Ran, NotRun> {
    let printed = Arc::new(Printed::default());
    let limits = limits(cpu);
    let start = Start {
        limits,
        bindings: Default::default(),
        ambient: Default::default(),
        input: None,
        args: Vec::new(),
        seed: Seed::from_number(262),
        sink: Arc::clone(&printed) as _,
        must_suspend: false,
    };
    let mut isolate = engine.start(program, start).await?;
    let mut turn = Turn { now: NOW, wall_left: limits.wall, replies: Vec::new() };
    for _ in 0..TURNS_MAX {
        match isolate.advance(turn).await? {
            Step::Done(end, _) => {
                let printed = std::mem::take(&mut *printed.0.lock().unwrap_or_else(PoisonError::into_inner));
                return Ok(Ran { end, printed });
            }
            Step::Calls(calls) => {
                let sleep = calls.iter().find_map(|pending| match pending.call {
                    HostCall::Sleep { until } => Some((pending.id, until)),
                    _ => None,
                });
                let (id, until) = sleep.ok_or(NotRun::Waits)?;
                turn =
                    Turn { now: until, wall_left: limits.wall, replies: vec![(id, HostReply::Value { json: None })] };
            }
        }
    }
    Err(NotRun::Endless)
}
