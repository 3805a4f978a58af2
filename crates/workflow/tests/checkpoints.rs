//! A state that was kept on the way is worth as much as being told everything again: both come to the same, and write the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_agents::Agents;
use isolith_core::RunId;
use isolith_runner::{NoTools, Recorded, Verdict};
use isolith_workflow::{
    Around, Bundle, Control, End, Files, Finished, Heard, Keep, Kept, Letters, Means, Settings, limits, run, take_up,
};
use std::sync::{Arc, Mutex};
use support::{Memory, Nowhere, runner};

const FLOW: &str = "import { agent, parallel, log, now, defineWorkflow } from 'defineworkflow';
export default defineWorkflow({ name: 't', description: 'd', harness: 'claude', async run() {
  const seen = [];
  const lane = async (n) => {
    for (let i = 0; i < 20; i++) {
      seen.push([n, i, await agent(`p ${n} ${i}`, { label: `${n}.${i}` })]);
      if (i % 7 === 3) log(`${n} is at ${i}`);
      if (i % 5 === 0) seen.push((await now()).getTime() > 0);
    }
    return seen.length;
  };
  return [await parallel([0, 1, 2].map((n) => () => lane(n))), seen];
} });";

/// Workflows that only call agents need no grants.
const NOTHING: [isolith_core::Grant; 0] = [];

fn means() -> Means {
    Means {
        agents: Arc::new(Agents::mock()),
        inner: Arc::new(NoTools),
        audience: Arc::new(Heard::default()),
        mail: Arc::new(Letters::default()),
        control: Arc::new(Control::default()),
        imported: None,
    }
}

fn value(finished: &Finished) -> String {
    match &finished.end {
        End::Value(Some(value)) => value.text().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_state_that_was_kept_goes_on_like_the_journal() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut read, saved, names) = (|_: &str| Ok(None), |_: &str| None, Vec::new);
    let bundle = Bundle::read(FLOW, "flow.ts", &mut Files { read: &mut read, saved: &saved, names: &names }).unwrap();
    let states: Arc<Mutex<Vec<Kept>>> = Arc::default();
    let kept = Arc::clone(&states);
    let to = Arc::new(move |state: &Kept| {
        // As it comes back from a disk.
        kept.lock().unwrap().push(Kept::from_bytes(&state.to_bytes()).unwrap());
    });
    let around = |journal: &Memory, keep| Around {
        journal: Box::new(journal.clone()),
        keep,
        patience: None,
        sink: Arc::new(Nowhere),
        leave: Default::default(),
    };
    let journal = Memory::default();
    let about = (RunId("long".into()), &NOTHING[..], limits());
    let around_it = around(&journal, Some(Keep { every: 3, to }));
    let whole = runtime.block_on(run(&runner(), &bundle, about, Settings::default(), means(), around_it)).unwrap();
    let (expected, records) = (value(&whole), journal.records());
    let states = states.lock().unwrap().clone();
    assert!(states.len() > 3, "{} states were kept", states.len());
    let done: Vec<&str> = whole.outcome.as_ref().unwrap().calls.iter().map(|call| call.what.as_str()).collect();

    for (n, state) in states.into_iter().enumerate() {
        let turns = state.state.recorded().unwrap() as usize;
        // The journal up to some turns behind that state: these are told again, and held against the record.
        let turned = records.iter().enumerate().filter(|(_, record)| record.starts_with(r#"{"turn""#));
        let turned: Vec<usize> = turned.map(|(at, _)| at).chain([records.len() - 1]).collect();
        let cut = turned.get(turns + n % 4).copied().unwrap_or(records.len() - 1);
        let begun = &records[..cut];
        let all = Recorded::read(begun).unwrap();
        // The same from there on, with everything before it left to the state.
        let rest: Vec<String> = records[..1].iter().chain(&records[turned[turns]..cut]).cloned().collect();
        let rest = Recorded::read_after(&rest, &state.state).unwrap();
        let mut ended = Vec::new();
        for (recorded, kept) in [(&rest, Some(state.clone())), (&all, Some(state)), (&all, None)] {
            let journal = Memory::default();
            journal.0.lock().unwrap().extend(begun.iter().cloned());
            let around = around(&journal, None);
            let runner = runner();
            let took = take_up(&runner, recorded, kept, Settings::default(), means(), around);
            let finished = runtime.block_on(took).unwrap();
            assert_eq!(value(&finished), expected, "state {n}");
            let calls = finished.outcome.as_ref().unwrap().calls.iter();
            assert_eq!(calls.map(|call| call.what.as_str()).collect::<Vec<_>>(), done, "state {n}");
            // And the journal that came of it can be told again as a whole.
            let told = Recorded::read(&journal.records()).unwrap();
            let replayed = runtime.block_on(runner.replay(&told)).unwrap();
            let Verdict::Same { hash } = replayed.verdict else { panic!("state {n}: {:?}", replayed.verdict) };
            ended.push(hash);
        }
        assert!(ended.iter().all(|hash| *hash == ended[2]), "state {n}");
    }
}

#[test]
fn a_state_of_something_else_is_not_used() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut kept = Vec::new();
    for text in [FLOW.to_owned(), FLOW.replace("p ${n}", "q ${n}")] {
        let (mut read, saved, names) = (|_: &str| Ok(None), |_: &str| None, Vec::new);
        let mut files = Files { read: &mut read, saved: &saved, names: &names };
        let bundle = Bundle::read(&text, "flow.ts", &mut files).unwrap();
        let (journal, state): (Memory, Arc<Mutex<Option<Kept>>>) = <_>::default();
        let to = Arc::clone(&state);
        let to = Arc::new(move |run: &Kept| *to.lock().unwrap() = Some(run.clone()));
        let around = Around {
            journal: Box::new(journal.clone()),
            keep: Some(Keep { every: 3, to }),
            patience: None,
            sink: Arc::new(Nowhere),
            leave: Default::default(),
        };
        let about = (RunId("some".into()), &NOTHING[..], limits());
        let ended = runtime.block_on(run(&runner(), &bundle, about, Settings::default(), means(), around)).unwrap();
        kept.push((journal.records(), state.lock().unwrap().clone().unwrap(), value(&ended)));
    }
    let (records, _, expected) = &kept[0];
    let begun = &records[..records.len() - 1];
    let journal = Memory::default();
    journal.0.lock().unwrap().extend(begun.iter().cloned());
    let around = Around {
        journal: Box::new(journal),
        keep: None,
        patience: None,
        sink: Arc::new(Nowhere),
        leave: Default::default(),
    };
    let foreign = Some(kept[1].1.clone());
    let recorded = Recorded::read(begun).unwrap();
    let runner = runner();
    let took = take_up(&runner, &recorded, foreign, Settings::default(), means(), around);
    assert_eq!(&value(&runtime.block_on(took).unwrap()), expected);
}
