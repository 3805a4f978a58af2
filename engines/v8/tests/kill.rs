//! `kill -9` at random moments: a run ends with a clear error or as if nothing had been; never a hang, never a zombie.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use common::{descendants, engine, run, start, turn, value};
use isolith_core::{End, Engine, ErrorKind, Limits, Step, Timestamp, Turn};
use isolith_v8::Options;
use std::sync::Arc;
use std::time::Duration;

/// How many are killed: `ISOLITH_V8_KILLS`.
fn kills() -> u32 {
    std::env::var("ISOLITH_V8_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Numbers that look like chance and repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn kill(pid: i32) {
    let _ =
        std::process::Command::new("kill").args(["-9", &pid.to_string()]).stderr(std::process::Stdio::null()).status();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_killed_takes_their_runs_with_them_and_others_take_their_place() {
    const PROGRAM: &str = "let n = 0; for (let i = 0; i < 3e6; i++) n += i % 7; console.log(n); await new Promise((r) => setTimeout(r, 5)); return 'done'";
    let engine = Arc::new(engine(Options::default()));
    let mut dice = Dice(42);
    let (mut done, mut died) = (0, 0);
    for _ in 0..kills() {
        let (pause, victim) = (dice.roll(25), dice.roll(1 << 20));
        let killer = tokio::task::spawn_blocking(move || {
            std::thread::sleep(Duration::from_millis(pause));
            let all = descendants();
            if let Some((pid, _)) = all.get(victim as usize % all.len().max(1)) {
                kill(*pid);
            }
        });
        let one = async {
            let started =
                engine.start(&common::body(PROGRAM), start(Limits::default(), Arc::new(common::Kept::default()))).await;
            let mut isolate = started.expect("another worker takes its place");
            let mut next = turn(Vec::new());
            loop {
                match isolate.advance(next).await.expect("a step") {
                    Step::Done(end, _) => return end,
                    Step::Calls(calls) => {
                        let woken = |id| (id, isolith_core::HostReply::Value { json: None });
                        let replies = calls.iter().map(|call| woken(call.id)).collect();
                        next = Turn { now: Timestamp::from_micros(2_000_000), ..turn(replies) };
                    }
                }
            }
        };
        match tokio::time::timeout(Duration::from_secs(30), one).await.expect("no run hangs") {
            End::Value(_) => done += 1,
            End::Failed(failure) => {
                assert_eq!(failure.kind, ErrorKind::Internal, "{failure:?}");
                assert!(failure.message.contains("the worker died"), "{failure:?}");
                died += 1;
            }
        }
        killer.await.unwrap();
    }
    println!("{done} runs ended by themselves, {died} with their worker");
    // The last that was killed may have been the zygote, and with it those that stood ready for these.
    let mut last = run(&*engine, "return 1", Limits::default()).await;
    for _ in 0..Options::default().ready {
        if last == value("1") {
            break;
        }
        last = run(&*engine, "return 1", Limits::default()).await;
    }
    assert_eq!(last, value("1"));
    // The kernel takes a moment to let go of what was killed.
    let zombies = || descendants().into_iter().filter(|(_, state)| *state == 'Z').count();
    for left in (0..100).rev() {
        if zombies() == 0 {
            break;
        }
        assert!(left > 0, "{:?}", descendants());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(engine);
    for _ in 0..100 {
        if descendants().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("processes are left: {:?}", descendants());
}
