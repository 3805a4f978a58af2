//! What workflows cost: a record on disk, a long history told again, the same from a state that was kept, and waiting.
//!
//! `cargo run --release -p isolith-workflow --example flows`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails has nothing to say")]

use isolith_agents::{Agent, AgentError, Agents, Progress, Reply, Request};
use isolith_core::{BoxFuture, Json, OutputSink, Recorder as _, RunId, Stream, Timestamp};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{NoTools, Patience, Recorded, Runner};
use isolith_store::{DataFolder, Journals};
use isolith_workflow::{
    Around, Audience, Bundle, Control, End, Event, Files, Keep, Kept, Letters, Means, Settings, limits, run, take_up,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const STEPS: usize = 10_000;
const WAITING: usize = 1_000;
const APPENDS: u32 = 500;

struct Nobody;

impl Audience for Nobody {
    fn hear(&self, _: &Event) {}
}

impl OutputSink for Nobody {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn bundle(body: &str) -> Bundle {
    let text = format!(
        "import {{ agent, now, waitFor, defineWorkflow }} from 'defineworkflow';\n\
         export default defineWorkflow({{ name: 't', description: 'd', harness: 'claude', async run() {{ {body} }} }});\n"
    );
    let (mut read, saved, names) = (|_: &str| Ok(None), |_: &str| None, Vec::new);
    Bundle::read(&text, "flow.ts", &mut Files { read: &mut read, saved: &saved, names: &names }).unwrap()
}

struct Place {
    runner: Runner,
    journals: Journals,
    letters: Arc<Letters>,
    kept: Arc<Mutex<Option<Kept>>>,
}

impl Place {
    fn means(&self) -> Means {
        Means {
            agents: Arc::new(Agents::mock()),
            inner: Arc::new(NoTools),
            audience: Arc::new(Nobody),
            mail: Arc::clone(&self.letters) as _,
            control: Arc::new(Control::default()),
            imported: None,
        }
    }

    fn around(&self, journal: Box<dyn isolith_core::Recorder>, leaves: bool) -> Around {
        let kept = Arc::clone(&self.kept);
        let keep = move |state: &Kept| *kept.lock().unwrap() = Some(state.clone());
        Around {
            journal,
            keep: Some(Keep { every: 256, to: Arc::new(keep) }),
            patience: leaves.then_some(Patience { timer: Duration::ZERO, outside: Duration::ZERO }),
            sink: Arc::new(Nobody),
            leave: Default::default(),
        }
    }

    async fn begin(&self, bundle: &Bundle, name: &str) -> End {
        let id = RunId(name.into());
        let journal = Box::new(self.journals.create(&id).unwrap());
        let around = self.around(journal, true);
        run(&self.runner, bundle, (id, &[], limits()), Settings::default(), self.means(), around).await.unwrap().end
    }

    /// Takes a run up, and says how long it took until it did something new.
    async fn go_on(&self, name: &str, kept: Option<&[u8]>) -> Duration {
        let id = RunId(name.into());
        let began = Instant::now();
        let kept = kept.map(|bytes| Kept::from_bytes(bytes).unwrap());
        let (journal, recorded) = match &kept {
            Some(kept) => {
                let (journal, lines) = self.journals.append_after(&id, kept.state.mark().unwrap()).unwrap().unwrap();
                (journal, Recorded::read_after(&lines.records, &kept.state).unwrap())
            }
            None => {
                let (journal, lines) = self.journals.append_to(&id).unwrap().unwrap();
                (journal, Recorded::read(&lines.records).unwrap())
            }
        };
        let around = self.around(Box::new(journal), false);
        let (agent, asked) = First::new();
        let means = Means { agents: Arc::new(agent), ..self.means() };
        let took = take_up(&self.runner, &recorded, kept, Settings::default(), means, around).await;
        assert!(matches!(took.unwrap().end, End::Value(Some(_))), "it came to no end");
        asked.lock().unwrap().unwrap().duration_since(began)
    }
}

/// An agent that knows when it was first asked.
struct First(Arc<Mutex<Option<Instant>>>);

impl First {
    fn new() -> (First, Arc<Mutex<Option<Instant>>>) {
        let asked: Arc<Mutex<Option<Instant>>> = Arc::default();
        (First(Arc::clone(&asked)), asked)
    }
}

impl Agent for First {
    fn run(&self, _: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        *self.0.lock().unwrap() = Some(Instant::now());
        Box::pin(std::future::ready(Ok(Reply { text: "done".into(), ..Reply::default() })))
    }
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let options = Options { live: 2 * WAITING as u32, ..Options::default() };
    let place = Arc::new(Place {
        runner: Runner::new(Arc::new(QuickJs::new(options).unwrap())),
        journals: data.journals().unwrap(),
        letters: Arc::default(),
        kept: Arc::default(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();

    let mut journal = place.journals.create(&RunId("append".into())).unwrap();
    let began = Instant::now();
    for _ in 0..APPENDS {
        journal
            .append(r#"{"turn":{"now":1767225600000000,"replies":[{"id":1,"reply":{"value":{"json":{"ok":1}}}}]}}"#)
            .unwrap();
        journal.sync().unwrap();
    }
    println!("one record on disk: {:?} (mean of {APPENDS}, each synced)", began.elapsed() / APPENDS);

    let long = bundle(&format!(
        "let n = 0; for (let i = 0; i < {STEPS}; i++) n += (await now()).getTime() > 0 ? 1 : 0; await waitFor('go'); return [n, await agent('last')];"
    ));
    let began = Instant::now();
    assert!(matches!(runtime.block_on(place.begin(&long, "long")), End::Waits(_)));
    println!("{STEPS} steps done, each on disk before the program saw it: {:?}", began.elapsed());
    place.letters.put("go", Json::null());
    let path = folder.path().join("journals/long.jsonl");
    let (journal, kept) = (std::fs::read(&path).unwrap(), place.kept.lock().unwrap().clone().unwrap().to_bytes());
    let told = runtime.block_on(place.go_on("long", None));
    println!("taken up by telling all {STEPS} again: {told:?}, journal {} KiB", journal.len() >> 10);
    std::fs::write(&path, &journal).unwrap();
    let size = kept.len();
    let kept = runtime.block_on(place.go_on("long", Some(&kept)));
    println!(
        "taken up from a state that was kept: {kept:?} (state {} KiB); {:.0} times as fast",
        size >> 10,
        told.as_secs_f64() / kept.as_secs_f64()
    );

    let waits = bundle("const word = 'x'.repeat(1000); return [word.length, await waitFor('other')];");
    let (before, began) = (resident(), Instant::now());
    let mut bytes = 0;
    for n in 0..WAITING {
        let End::Waits(state) = runtime.block_on(place.begin(&waits, &format!("w{n}"))) else {
            unreachable!("it waits")
        };
        bytes += state.to_bytes().len();
    }
    println!(
        "{WAITING} that wait on disk: {:?} each to begin and leave, {} KiB of state each",
        began.elapsed() / WAITING as u32,
        (bytes / WAITING) >> 10
    );
    let held = runtime.block_on(async {
        let local = tokio::task::LocalSet::new();
        let before = resident().max(before);
        local
            .run_until(async {
                for n in 0..WAITING {
                    let (place, waits) = (Arc::clone(&place), waits.clone());
                    tokio::task::spawn_local(async move {
                        let id = RunId(format!("m{n}"));
                        let journal = Box::new(place.journals.create(&id).unwrap());
                        let around = Around { patience: None, ..place.around(journal, false) };
                        let _ =
                            run(&place.runner, &waits, (id, &[], limits()), Settings::default(), place.means(), around)
                                .await;
                    });
                }
                tokio::time::sleep(Duration::from_secs(5)).await;
                resident().saturating_sub(before)
            })
            .await
    });
    println!("{WAITING} that wait in memory: {} KiB each", (held / WAITING as u64) >> 10);
}
