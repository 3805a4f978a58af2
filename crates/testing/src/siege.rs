//! Every hostile program of `conformance/attacks`, one after the other in one process, with everything that must hold
//! whatever a program does. A secret is in the environment, the time zone is an unusual one and the locale a foreign
//! one, so that a leak of any of them shows.

use crate::{Attack, Code, Ended, Fixtures, HostCheck, Late, Neighbour, Peak, attacks, run, slack};
use isolith_core::{Engine, ErrorKind, Json, Outcome};
use isolith_runner::{Plan, RunError, Runner};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const CANARY: &str = "HOST_CANARY";
const ENVIRONMENT: [(&str, &str); 3] =
    [(CANARY, "canary-7f3a9c51e8d24b06"), ("TZ", "Pacific/Chatham"), ("LC_ALL", "de_DE.UTF-8")];
/// What a program says when it got out.
const ESCAPED: &str = "ESCAPED";
/// Beyond its time limit, a run must be back after this.
const GRACE: Duration = Duration::from_millis(1_000);
/// Beyond twice its memory limit, a run may cost the process this much.
const MEMORY_ALLOWANCE_BYTES: u64 = 96 << 20;
/// How long to look for calls that come after the result, where a case asks for it.
const LATE: Duration = Duration::from_millis(300);
/// How long after an attack its neighbour starts.
const NEIGHBOUR_AFTER: Duration = Duration::from_millis(60);

/// The fields of attacks that succeed, and what has to be noticed.
const BROKEN: [(&str, &str); 9] = [
    (r#""code":"return 'ESC'+'APED'","expect":{"kind":"no-effect"}"#, "`ESCAPED` is in the outcome"),
    (r#""code":"console.log('canary-7f3a'+'9c51e8d24b06')","expect":{"kind":"no-effect"}"#, "is in the outcome"),
    (r#""code":"throw new Error('ESC'+'APED')","expect":{"kind":"no-effect"}"#, "`ESCAPED` is in the outcome"),
    (r#""code":"return 1","expect":{"kind":"value","value":2}"#, "it ended with value 1"),
    (r#""code":"return 1","expect":{"kind":"error","class":["input"]}"#, "it ended with value 1"),
    (r#""code":"return 1","expect":{"kind":"value","pattern":"^(?!1)"}"#, "it ended with value 1"),
    (r#""code":"console.log(1)","logcount":2,"expect":{"kind":"no-effect"}"#, "1 pieces of output"),
    (r#""code":"return 1","after":"return 2","expect":{"kind":"value","value":1}"#, "it ended with value 2"),
    (
        r#""code":"return 1","parallel":{"code":"return 2","value":2,"withinMs":0},"expect":{"kind":"no-effect"}"#,
        "the neighbour took",
    ),
];

/// An engine under attack.
pub struct Besieged {
    /// What its tests are called by.
    pub name: &'static str,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Attacks that may end otherwise there, and why; everything else has to hold of them too. One that does not is a failure.
    pub differences: BTreeMap<String, String>,
}

/// Runs every attack on each engine, as one test each, as the arguments of this process say. `engines` makes them when the environment is
/// the one that attacks are to find.
pub fn attacks_main(
    engines: impl FnOnce() -> Result<Vec<Besieged>, Box<dyn Error>>,
) -> Result<ExitCode, Box<dyn Error>> {
    if ENVIRONMENT.iter().any(|(name, value)| std::env::var(name).as_deref() != Ok(value)) {
        // The time zone and the locale are read when a process starts, so it is started again with ours.
        let status =
            Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).envs(ENVIRONMENT).status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1); // memory of the process is measured
    let mut trials = Vec::new();
    for Besieged { name, engine, differences } in engines()? {
        let siege = Arc::new(Siege {
            runner: Runner::new(engine),
            runtime: Builder::new_multi_thread().enable_all().build()?,
            slack: slack(),
            host_paths: host_paths()?,
            differences,
            hosts: Mutex::default(),
        });
        for attack in attacks()? {
            let siege = Arc::clone(&siege);
            trials.push(Trial::test(format!("{name}::{}", attack.id), move || siege.withstand(&attack)));
        }
        let judged = Arc::clone(&siege);
        trials.push(Trial::test(format!("{name}::broken-promises-are-noticed"), move || {
            judged.broken_promises_are_noticed()
        }));
        trials.push(Trial::test(format!("{name}::nothing-happened-later"), move || siege.nothing_happened_later()));
    }
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// Paths of this machine that no program has a way to know.
fn host_paths() -> Result<Vec<String>, Box<dyn Error>> {
    let executable = std::env::current_exe()?;
    let paths = [
        Some(std::env::current_dir()?),
        executable.parent().map(Into::into),
        std::env::var_os("CARGO_MANIFEST_DIR").map(Into::into),
        std::env::var_os("HOME").map(Into::into),
        std::env::var_os("CARGO_HOME").map(Into::into),
    ];
    let texts = paths.into_iter().flatten().map(|path: std::path::PathBuf| path.display().to_string());
    Ok(texts.filter(|path| path.len() > 1).chain(["/.cargo/registry/".into(), "/rustc/".into()]).collect())
}

/// One engine under attack.
struct Siege {
    runner: Runner,
    runtime: Runtime,
    slack: f64,
    host_paths: Vec<String>,
    differences: BTreeMap<String, String>,
    /// The hosts of all runs so far, which nothing may call any more.
    hosts: Mutex<Vec<(String, Arc<Fixtures>)>>,
}

/// A run that is over, or was refused before it started.
struct Over {
    outcome: Option<Outcome>,
    fixtures: Arc<Fixtures>,
    took: Duration,
}

impl Siege {
    fn withstand(&self, attack: &Attack) -> Result<(), Failed> {
        let peak = Peak::watch()?;
        let over = self.runtime.block_on(async {
            match &attack.parallel {
                None => self.attack(attack, &attack.code).await,
                Some(neighbour) => {
                    let (over, beside) =
                        tokio::join!(self.attack(attack, &attack.code), self.beside(attack, neighbour));
                    beside?;
                    over
                }
            }
        })?;
        self.survived(attack, &over)?;
        let judged = match &attack.after {
            None => over,
            Some(code) => {
                let after = self.runtime.block_on(self.attack(attack, &Code::Text(code.clone())))?;
                self.survived(attack, &after)?;
                after
            }
        };
        let grown = peak.grown_bytes();
        let most = 2 * attack.limits.limits().memory_bytes + MEMORY_ALLOWANCE_BYTES;
        ensure(grown <= most, || format!("memory grew by {} MiB, more than {} MiB", grown >> 20, most >> 20))?;
        self.next_run_is_unaffected()?;
        if attack.hostcheck == Some(HostCheck::LateTools) {
            std::thread::sleep(LATE);
            nothing_late(&judged.fixtures)?;
        }
        let ended = judged.outcome.as_ref().map_or(Ended::Refused, Ended::of);
        let met = attack.met_by(&ended, &|pattern, text| self.matches(pattern, text));
        if let Some(reason) = self.differences.get(&attack.id) {
            return ensure(!met, || format!("it ends as expected, but is listed as a difference: {reason}"));
        }
        ensure(met, || format!("expected {:?}, but it ended with {}", attack.expect, show(&judged)))
    }

    async fn attack(&self, attack: &Attack, code: &Code) -> Result<Over, Failed> {
        let fixtures = Arc::new(Fixtures::new(attack.grants.tools.iter().copied()));
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).push((attack.id.clone(), Arc::clone(&fixtures)));
        let Code::Text(code) = code else {
            // A source of ours is UTF-8: what is not text is refused at the edge, before there is a plan.
            return Ok(Over { outcome: None, fixtures, took: Duration::ZERO });
        };
        let plan = Plan {
            limits: attack.limits.limits(),
            grants: attack.grants.tools.iter().map(|tool| tool.grant()).collect::<Result<_, _>>()?,
            ..Plan::new(code.clone(), "main.js")
        };
        let began = Instant::now();
        let (runner, host) = (self.runner.clone(), Arc::clone(&fixtures));
        let ran = self.runtime.spawn(async move { run(&runner, plan, &host).await }).await?;
        let took = began.elapsed();
        let outcome = match ran {
            Ok(outcome) => Some(outcome),
            Err(RunError::Plan(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Over { outcome, fixtures, took })
    }

    /// What must hold of every run.
    fn survived(&self, attack: &Attack, over: &Over) -> Result<(), Failed> {
        let most = (attack.limits.timeout() + GRACE).mul_f64(self.slack);
        ensure(over.took <= most, || format!("it came back after {:?}, later than {most:?}", over.took))?;
        let calls = over.fixtures.performed();
        ensure(over.fixtures.refused() == 0, || "a tool was called that was not granted".into())?;
        nothing_late(&over.fixtures)?;
        let limits = attack.limits.limits();
        if attack.hostcheck == Some(HostCheck::ToolCount) {
            ensure(calls <= limits.calls, || format!("{calls} tool calls, but {} are allowed", limits.calls))?;
        }
        let Some(outcome) = &over.outcome else { return Ok(()) };
        let listed = outcome.calls.len() as u32;
        ensure(listed == calls, || format!("the receipt lists {listed} calls, but {calls} were made"))?;
        ensure(calls <= outcome.usage.calls, || {
            format!("{} calls are counted, but {calls} were made", outcome.usage.calls)
        })?;
        let internal = outcome.error.as_ref().filter(|error| error.kind == ErrorKind::Internal);
        ensure(internal.is_none(), || format!("a failure of ours: {}", show(over)))?;
        self.nothing_leaked(outcome)?;
        let pieces = outcome.outputs.len();
        ensure(attack.logcount.is_none_or(|n| n == pieces), || format!("{pieces} pieces of output"))?;
        let reported = reported_bytes(outcome);
        let in_bounds = !attack.outcheck || reported <= 2 * limits.output_bytes;
        ensure(in_bounds, || format!("{reported} bytes are reported, but output is limited to {}", limits.output_bytes))
    }

    fn nothing_leaked(&self, outcome: &Outcome) -> Result<(), Failed> {
        let text = serde_json::to_string(outcome)?;
        let secrets = ENVIRONMENT.iter().map(|(_, secret)| *secret);
        for secret in secrets.chain(self.host_paths.iter().map(String::as_str)).chain([ESCAPED]) {
            ensure(!text.contains(secret), || format!("`{secret}` is in the outcome: {text}"))?;
        }
        Ok(())
    }

    /// The run beside an attack, which must have its value in time.
    async fn beside(&self, attack: &Attack, neighbour: &Neighbour) -> Result<(), Failed> {
        tokio::time::sleep(NEIGHBOUR_AFTER).await;
        let over = self.attack(attack, &Code::Text(neighbour.code.clone())).await?;
        let within = Duration::from_millis(neighbour.within_ms).mul_f64(self.slack);
        ensure(over.took <= within, || format!("the neighbour took {:?}, longer than {within:?}", over.took))?;
        let value = over.outcome.as_ref().and_then(|outcome| outcome.value.as_ref());
        let equal =
            value.is_some_and(|json| json.parse::<serde_json::Value>().is_ok_and(|value| value == neighbour.value));
        ensure(equal, || format!("the neighbour ended with {}", show(&over)))
    }

    fn next_run_is_unaffected(&self) -> Result<(), Failed> {
        let value = self.value(Plan::new("return 40+2", "next.js"))?;
        ensure(value.as_deref() == Some("42"), || format!("the next run gave {value:?}"))
    }

    /// Whether JavaScript finds a pattern in a text: expectations are written in its regular expressions.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let input = Json::of(&[pattern, text]).ok();
        let plan = Plan { input, ..Plan::new("return new RegExp(input[0]).test(input[1])", "matches.js") };
        self.value(plan).ok().flatten().as_deref() == Some("true")
    }

    fn value(&self, plan: Plan) -> Result<Option<String>, Failed> {
        let outcome = self.runtime.block_on(run(&self.runner, plan, &Arc::new(Fixtures::new([]))))?;
        Ok(outcome.value.map(|json| json.text().to_owned()))
    }

    /// Programs that do what must not be: each has to be found out, or the checks above check nothing.
    fn broken_promises_are_noticed(&self) -> Result<(), Failed> {
        for (fields, noticed) in BROKEN {
            let text = format!(
                r#"{{"id":"broken","area":"","language":"javascript","why":"","source":"","grants":{{"tools":["inc"]}},
                    "limits":{{"timeoutMs":1000,"memoryMb":16,"outputKb":64,"toolCalls":9}},{fields}}}"#
            );
            let failed = self.withstand(&serde_json::from_str(&text)?).err();
            let message = failed.as_ref().and_then(Failed::message).unwrap_or("nothing");
            ensure(message.contains(noticed), || {
                format!("`{noticed}` was to be noticed of {fields}, but {message} was")
            })?;
        }
        Ok(())
    }

    /// After all attacks: their tools were called while they ran, and never since.
    fn nothing_happened_later(&self) -> Result<(), Failed> {
        std::thread::sleep(LATE);
        for (id, fixtures) in &*self.hosts.lock().unwrap_or_else(PoisonError::into_inner) {
            nothing_late(fixtures).map_err(|failed| format!("{id}: {}", failed.message().unwrap_or_default()))?;
        }
        Ok(())
    }
}

fn nothing_late(fixtures: &Fixtures) -> Result<(), Failed> {
    let late = fixtures.late();
    ensure(late == Late::default(), || format!("after the result: {late:?}"))
}

/// Everything of a report whose size a program decides, its value aside: that has a limit of its own.
fn reported_bytes(outcome: &Outcome) -> u64 {
    let outputs = outcome.outputs.iter().map(|output| output.text.len());
    let error = outcome.error.iter().map(|error| {
        let texts = [error.stack.as_ref(), error.hint.as_ref()].into_iter().flatten();
        error.name.len() + error.message.len() + texts.map(String::len).sum::<usize>()
    });
    outputs.chain(error).sum::<usize>() as u64
}

fn show(over: &Over) -> String {
    const CHARS_MAX: usize = 600;
    let text = match &over.outcome {
        None => "a refusal before it ran".into(),
        Some(Outcome { error: Some(error), .. }) => format!("{:?} {}: {}", error.kind, error.name, error.message),
        Some(outcome) => format!("value {}", outcome.value.as_ref().map_or("undefined", |json| json.text())),
    };
    text.chars().take(CHARS_MAX).collect()
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}
