//! What it costs to start with bindings that are not used: `cargo test --release -p isolith-quickjs --test cost -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a measurement says what it found")]

mod support;

use isolith_core::{Bindings, Isolate, Step};
use std::sync::Arc;
use std::time::Duration;
use support::{Given, Lines, all_bindings, turn};

const RUNS: u32 = 2_000;
const ROUNDS: usize = 15;

/// What this thread has computed, as the kernel counts it.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

fn round(given: &Given) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let lines = Arc::new(Lines::default());
        let before = cpu_time();
        for _ in 0..RUNS {
            let mut isolate: Box<dyn Isolate> = given.start("return 1 + 1", Arc::clone(&lines)).await;
            let step = isolate.advance(turn(support::STARTED, Vec::new())).await.unwrap();
            assert!(matches!(step, Step::Done(..)));
        }
        (cpu_time() - before) / RUNS
    })
}

#[test]
#[ignore = "a measurement"]
fn bindings_that_are_not_used_cost_little() {
    let with = |change: fn(&mut Bindings)| {
        let mut given = Given::nothing();
        change(&mut given.bindings);
        given
    };
    let rows = [
        ("nothing", Given::nothing()),
        ("one tool", with(|b| b.tools = all_bindings().tools)),
        ("one key space", with(|b| b.kv = all_bindings().kv)),
        ("fetch", with(|b| b.fetch = true)),
        ("everything", Given::default()),
    ];
    // Rounds take turns, and the least of them counts: whatever else the machine does only adds.
    let mut least = [Duration::MAX; 5];
    for _ in 0..ROUNDS {
        for (i, (_, given)) in rows.iter().enumerate() {
            least[i] = least[i].min(round(given));
        }
    }
    for (i, (name, _)) in rows.iter().enumerate() {
        println!("{name:>14}: {:>8.2?}  {:.2} x", least[i], least[i].as_secs_f64() / least[0].as_secs_f64());
    }
}
