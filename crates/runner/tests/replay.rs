//! A run is a function of what it was told: its journal, and every beginning of it, says the same again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{HostReply, Json, OutputSink, Recorder, RunId, StoreProblem, Stream, Timestamp};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{Attend, Durable, Ended, Plan, Recorded, Recording, RunError, Runner, Tools, Verdict};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Eight lanes that overtake each other, with failures, timers and chance.
const PROGRAM: &str = r#"
const order = [];
const lane = async (n) => {
  for (let round = 0; round < 3; round++) {
    const wait = Math.floor(Math.random() * 4);
    const said = await tools.slow({ n, round, wait }).catch((error) => error.message);
    order.push([n, round, said]);
    console.log(n, round, said);
    if (wait === 2) await new Promise((done) => setTimeout(done, 1));
  }
};
await Promise.all([...Array(8).keys()].map(lane));
return [order, Date.now()];
"#;

/// What is appended stays in memory; from some record on nothing is taken any more.
#[derive(Clone)]
struct Memory {
    kept: Arc<Mutex<Kept>>,
    room: usize,
}

#[derive(Default)]
struct Kept {
    records: Vec<String>,
    /// How many records there were at each sync.
    syncs: Vec<usize>,
}

impl Memory {
    fn with_room(room: usize) -> Memory {
        Memory { kept: Arc::default(), room }
    }
}

impl Recorder for Memory {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        let mut kept = self.kept.lock().unwrap();
        if kept.records.len() >= self.room {
            return Err(StoreProblem("there is no room".into()));
        }
        kept.records.push(record.to_owned());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        let mut kept = self.kept.lock().unwrap();
        let count = kept.records.len();
        kept.syncs.push(count);
        Ok(())
    }

    fn rewrite(&mut self, _: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        Ok(())
    }
}

struct Nowhere;

impl OutputSink for Nowhere {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn runner() -> Runner {
    Runner::new(Arc::new(QuickJs::new(Options::default()).unwrap()))
}

fn tools() -> Tools {
    #[derive(serde::Deserialize)]
    struct Asked {
        n: u32,
        round: u32,
        wait: u64,
    }
    let slow = |args: Option<Json>| -> isolith_core::BoxFuture<'static, HostReply> {
        Box::pin(async move {
            let Asked { n, round, wait } = args.unwrap().parse().unwrap();
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if wait == 3 { HostReply::failed("Error", format!("{n} fails")) } else { HostReply::value(&(n + round)) }
        })
    };
    Tools::default().with("slow", slow).unwrap()
}

async fn record(runner: &Runner, memory: &Memory, durable: Durable) -> Result<Ended, RunError> {
    record_program(runner, PROGRAM, memory, durable).await
}

async fn record_program(runner: &Runner, program: &str, memory: &Memory, durable: Durable) -> Result<Ended, RunError> {
    let tools = tools();
    let plan = Plan { id: Some(RunId("r".into())), grants: tools.grants(), ..Plan::new(program, "lanes.js") };
    let recording = Recording { to: Box::new(memory.clone()), requested: Vec::new(), durable, checkpoints: None };
    runner.record(plan, Attend::new(Arc::new(tools), Arc::new(Nowhere)), recording).await
}

#[tokio::test]
async fn a_run_and_every_beginning_of_it_replay_the_same() {
    let runner = runner();
    for _ in 0..5 {
        let memory = Memory::with_room(usize::MAX);
        let outcome = record(&runner, &memory, Durable::AtItsEnd).await.unwrap().outcome;
        let records = memory.kept.lock().unwrap().records.clone();
        assert_eq!(memory.kept.lock().unwrap().syncs, [records.len()], "on disk before it is told");

        let replayed = runner.replay(&Recorded::read(&records).unwrap()).await.unwrap();
        assert!(matches!(replayed.verdict, Verdict::Same { .. }), "{:?}", replayed.verdict);
        let again = replayed.outcome.unwrap();
        assert_eq!((again.value, again.outputs), (outcome.value, outcome.outputs));
        for count in 1..records.len() {
            let recorded = Recorded::read(&records[..count]).unwrap();
            let verdict = runner.replay(&recorded).await.unwrap().verdict;
            assert_eq!(verdict, Verdict::SameSoFar { ended: None }, "{count} of {}", records.len());
        }
    }
}

#[tokio::test]
async fn a_reply_that_is_changed_anywhere_is_found() {
    let runner = runner();
    let memory = Memory::with_room(usize::MAX);
    record(&runner, &memory, Durable::AtItsEnd).await.unwrap();
    let records = memory.kept.lock().unwrap().records.clone();
    let mut changed = 0;
    for (at, record) in records.iter().enumerate() {
        let Some((before, after)) = record.split_once(r#""reply":{"value":"#) else { continue };
        let mut forged = records.clone();
        forged[at] = format!(r#"{before}"reply":{{"value":9{after}"#);
        let verdict = runner.replay(&Recorded::read(&forged).unwrap()).await.unwrap().verdict;
        assert!(matches!(verdict, Verdict::Different(_)), "record {at}: {verdict:?}");
        changed += 1;
    }
    assert!(changed >= 3, "only {changed} replies were changed");
}

#[tokio::test]
async fn a_difference_is_named_where_it_is() {
    let runner = runner();
    let ask = |n: &str| format!("tools.slow({{ n: {n}, round: 0, wait: 0 }})");
    let rows = [
        (format!("return await {}", ask("1")), "the outcome"),
        (format!("await {}", ask(&format!("await {}", ask("1")))), "call 1"),
        (format!("console.log(await {})", ask("1")), "turn 2"),
    ];
    for (program, place) in rows {
        let memory = Memory::with_room(usize::MAX);
        record_program(&runner, &program, &memory, Durable::AtItsEnd).await.unwrap();
        let change = |record: &String| record.replacen(r#""reply":{"value":1}"#, r#""reply":{"value":9}"#, 1);
        let forged: Vec<String> = memory.kept.lock().unwrap().records.iter().map(change).collect();
        let verdict = runner.replay(&Recorded::read(&forged).unwrap()).await.unwrap().verdict;
        let Verdict::Different(divergence) = verdict else { panic!("{program}: {verdict:?}") };
        assert_eq!(divergence.at, place, "{program}: {divergence}");
    }
}

#[tokio::test]
async fn what_is_to_be_durable_is_on_disk_before_the_program_sees_it() {
    let memory = Memory::with_room(usize::MAX);
    record(&runner(), &memory, Durable::EachTurn).await.unwrap();
    let kept = memory.kept.lock().unwrap();
    let turns: Vec<usize> =
        (1..).zip(&kept.records).filter(|(_, r)| r.starts_with(r#"{"turn""#)).map(|(n, _)| n).collect();
    assert_eq!(kept.syncs, [turns, vec![kept.records.len()]].concat());
}

#[tokio::test]
async fn a_run_that_cannot_be_recorded_has_no_outcome() {
    let runner = runner();
    for room in 0..6 {
        let error = record(&runner, &Memory::with_room(room), Durable::AtItsEnd).await.unwrap_err();
        assert_eq!(error.to_string(), "writing the journal");
    }
}
