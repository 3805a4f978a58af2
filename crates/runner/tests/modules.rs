//! Programs of several files, run, suspended, resumed, recorded and replayed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{ErrorKind, Outcome, OutputSink, Recorder, RunId, StoreProblem, Stream, Timestamp};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{
    Again, Attend, Durable, Ended, Look, ModuleSource, Patience, Plan, Recorded, Recording, Runner, SuspendedRun,
    Tools, Verdict,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Silent;

impl OutputSink for Silent {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn runner() -> Runner {
    Runner::new(Arc::new(QuickJs::new(Options { live: 4, ..Options::default() }).unwrap()))
}

fn attend() -> Attend {
    Attend::new(Arc::new(Tools::default()), Arc::new(Silent))
}

/// A plan for `main` among these files.
fn plan(main: &str, name: &str, files: &[(&str, &str)]) -> Plan {
    let mut plan = Plan { id: Some(RunId("r".into())), ..Plan::new(main, name) };
    let mut load = |path: &str| Ok(files.iter().find(|file| file.0 == path).map(|file| file.1.to_owned()));
    plan.find_modules(&mut load).unwrap_or_else(|error| panic!("{}", error.render()));
    plan
}

async fn run(main: &str, files: &[(&str, &str)]) -> Outcome {
    runner().run(plan(main, "main.ts", files), attend()).await.unwrap().outcome
}

#[track_caller]
fn value(outcome: &Outcome) -> String {
    assert_eq!(outcome.error, None);
    outcome.value.as_ref().map(ToString::to_string).unwrap_or_default()
}

const LIB: &[(&str, &str)] = &[
    ("lib/math.ts", "export const two: number = 2;\nexport default function double(n: number) { return n * two }\n"),
    (
        "lib/index.ts",
        "export * from './math';\nexport { default as double } from './math.js';\nexport * as math from './math';\nexport interface Shape { n: number }\nexport { Named } from './types';\n",
    ),
    ("lib/types.ts", "export interface Named { name: string }\n"),
    ("lib/counter.ts", "export let count = 0;\nexport const up = () => { count++ };\n"),
    (
        "lib/twice.ts",
        "import { count, up } from './counter';\nexport const twice = () => { up(); up(); return count };\n",
    ),
    (
        "lib/odd.ts",
        "import { even } from './even';\nexport const odd = (n: number): boolean => n !== 0 && even(n - 1);\n",
    ),
    (
        "lib/even.ts",
        "import { odd } from './odd';\nexport const even = (n: number): boolean => n === 0 || odd(n - 1);\n",
    ),
    ("lib/slow.ts", "await new Promise((done) => setTimeout(done, 1));\nexport const slow = 'waited';\n"),
    (
        "lib/fails.ts",
        "interface Unused { a: string }\n\nexport function fail(what: string): never {\n  throw new RangeError(what);\n}\n",
    ),
    ("lib/broken.ts", "export {};\n\nconst nothing: any = undefined;\nnothing.at.all;\n"),
    (".data/settings.json", "{ \"__proto__\": 1, \"a\": [true] }"),
    (".data/read.ts", "import settings from './settings.json';\nexport default Object.keys(settings);\n"),
];

#[tokio::test]
async fn every_kind_of_import_gives_what_was_exported() {
    for (main, expected) in [
        ("import double from './lib/math.ts'; return double(4)", "8"),
        ("import { two as n } from './lib/math'; return n", "2"),
        ("import double, { two } from './lib/math.js'; return double(two)", "4"),
        (
            "import * as math from './lib/math'; return [math.two, math.default(1), Object.keys(math)]",
            "[2,2,[\"default\",\"two\"]]",
        ),
        ("import { double, math, two } from './lib'; return double(two) + math.two", "6"),
        (
            "import { Named, Shape, two } from './lib/index'; const s: Shape & Named = { n: two, name: 'x' }; return s",
            "{\"n\":2,\"name\":\"x\"}",
        ),
        ("export { two as default } from './lib/math'", "2"),
        ("import { odd } from './lib/odd'; return [odd(3), odd(4)]", "[true,false]"),
        ("import { slow } from './lib/slow'; return slow", "\"waited\""),
        (
            "import settings from './.data/settings.json'; return [settings, Object.getPrototypeOf(settings) === Object.prototype]",
            "[{\"__proto__\":1,\"a\":[true]},true]",
        ),
        ("import keys from './.data/read'; return keys", "[\"__proto__\",\"a\"]"),
        ("return (await import('./lib/math')).two", "2"),
        ("const name = 'math'; return (await import('./lib/math')).two + (await import(`./lib/${name}.ts`)).two", "4"),
        (
            "import './lib/math'; return await import('./lib/nowhere').catch((error) => error.message)",
            "\"module `lib/nowhere` is not granted\"",
        ),
        ("import { two } from './lib/math'; export default async (input) => [input ?? null, two]", "[null,2]"),
    ] {
        assert_eq!(value(&run(main, LIB).await), expected, "{main}");
    }
}

#[tokio::test]
async fn a_variable_that_changes_is_seen_changed_everywhere() {
    let main = "
        import { count, up } from './lib/counter';
        import { twice } from './lib/twice';
        import * as counter from './lib/counter';
        const before = count;
        up();
        const seen = [before, count, twice(), count, counter.count, { count }];
        return seen;";
    assert_eq!(value(&run(main, LIB).await), "[0,1,3,3,3,{\"count\":3}]");
}

#[tokio::test]
async fn imports_come_first_and_modules_run_once() {
    let files = &[
        ("a.ts", "import './b'; globalThis.order.push('a'); export {}"),
        ("b.ts", "globalThis.order = ['b']; export {}"),
        ("c.ts", "import './a'; globalThis.order.push('c'); export {}"),
    ];
    let main = "globalThis.order.push('main'); import './a'; import './c'; import './b'; globalThis.order";
    assert_eq!(value(&run(main, files).await), "[\"b\",\"a\",\"c\",\"main\"]");
}

#[tokio::test]
async fn an_error_in_a_module_names_its_file_and_line() {
    let error = run("import { fail } from './lib/fails';\n\nfail('no');", LIB).await.error.unwrap();
    assert_eq!((error.kind, error.name.as_str(), error.message.as_str()), (ErrorKind::Thrown, "RangeError", "no"));
    let stack = error.stack.unwrap();
    assert!(stack.starts_with("    at fail (lib/fails.ts:4:"), "{stack}");
    assert!(stack.contains("(main.ts:3:1)"), "{stack}");
    assert_eq!((error.line, error.column), (Some(3), Some(1)), "the program's own line");

    let error = run("import './lib/broken';", LIB).await.error.unwrap();
    let stack = error.stack.unwrap();
    assert!(stack.contains("lib/broken.ts:4:"), "{stack}");
    assert_eq!(error.line, None, "no line of the program has to do with it");
}

#[tokio::test]
async fn a_module_that_cannot_be_parsed_is_named() {
    let files = &[("lib/x.ts", "export const a = 1;\nexport const = 2;\n")];
    let error = run("import { a } from './lib/x'; return a", files).await.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Syntax);
    assert!(error.message.starts_with("lib/x.ts:2:14: "), "{}", error.message);
    assert_eq!((error.line, error.stack.as_deref()), (None, Some("    at lib/x.ts:2:14")));
}

#[tokio::test]
async fn an_import_that_leads_nowhere_is_the_programs_failure() {
    let mut plan = Plan::new("\nimport { a } from './lib/x'; return a", "main.ts");
    let error = plan.find_modules(&mut |_| Ok(None)).unwrap_err();
    let Ended { outcome, .. } = Ended::not_a_program(&plan, &error);
    let error = outcome.error.unwrap();
    assert_eq!((error.kind, error.line, error.column), (ErrorKind::Syntax, Some(2), Some(19)));
    assert_eq!(error.message, "there is no file for `./lib/x` in the workspace");
}

#[tokio::test]
async fn what_is_not_brought_along_is_not_there() {
    let outcome = runner().run(Plan::new("import { two } from './lib/math'; return two", "main.ts"), attend()).await;
    let error = outcome.unwrap().outcome.error.unwrap();
    assert_eq!(error.message, "`./lib/math` is not granted as a module");
    // Whatever a program puts together while it runs, there is nothing but its modules.
    let main = "import './lib/math'; return await Promise.all(['lib/math.ts', './lib/math.ts', '/etc/passwd', 'main.ts', './main.ts', '../x.ts', 'isolith:prelude'].map((name) => import(name).then(() => 'there', () => 'gone')))";
    let expected = "[\"there\",\"there\",\"gone\",\"gone\",\"gone\",\"gone\",\"gone\"]";
    assert_eq!(value(&run(main, LIB).await), expected);
}

#[tokio::test]
async fn modules_count_as_source() {
    let module = ModuleSource { name: "a.ts".into(), source: " ".repeat(1 << 10) };
    let mut plan = Plan { modules: vec![module], ..Plan::new("import './a'", "main.ts") };
    plan.limits.source_bytes = 1 << 10;
    let error = runner().run(plan, attend()).await.unwrap_err();
    assert!(error.to_string().starts_with("the source is 1036 bytes"), "{error}");
}

const WAITS: &str = "
import { fail } from './lib/fails';
import { count, up } from './lib/counter';
const later = () => import('./lib/odd');
up();
await new Promise((done) => setTimeout(done, 20));
up();
const { odd } = await later();
if (count !== 2 || !odd(count + 1)) return count;
fail('after all');";

async fn suspend() -> SuspendedRun {
    let patience = Some(Patience { timer: Duration::ZERO, outside: Duration::ZERO });
    let plan = Plan { patience, ..plan(WAITS, "main.ts", LIB) };
    runner().run(plan, attend()).await.unwrap().suspended.unwrap()
}

#[tokio::test]
async fn a_suspended_program_goes_on_with_its_modules() {
    let suspended = SuspendedRun::from_bytes(&suspend().await.to_bytes()).unwrap();
    assert_eq!(suspended.modules().len(), 4);
    // On another engine, in which nothing of them was ever loaded.
    let error = runner().resume(suspended, attend(), Again::default()).await.unwrap().outcome.error.unwrap();
    assert_eq!(error.message, "after all");
    let stack = error.stack.unwrap();
    assert!(stack.starts_with("    at fail (lib/fails.ts:4:"), "{stack}");
    assert_eq!(error.line, Some(10));
}

#[tokio::test]
async fn a_run_saved_without_modules_is_read() {
    let patience = Some(Patience { timer: Duration::ZERO, outside: Duration::ZERO });
    let source = "await new Promise((done) => setTimeout(done, 20)); return 1";
    let plan = Plan { patience, ..Plan::new(source, "main.ts") };
    let bytes = runner().run(plan, attend()).await.unwrap().suspended.unwrap().to_bytes();
    assert!(!bytes.windows(7).any(|part| part == b"modules"), "saved as before there were any");
    let suspended = SuspendedRun::from_bytes(&bytes).unwrap();
    assert_eq!(suspended.modules(), []);
    let outcome = runner().resume(suspended, attend(), Again::default()).await.unwrap().outcome;
    assert_eq!(value(&outcome), "1");
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<String>>>);

impl Recorder for Memory {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.0.lock().unwrap().push(record.to_owned());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        Ok(())
    }

    fn rewrite(&mut self, _: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        Ok(())
    }
}

async fn record(plan: Plan) -> (Outcome, Vec<String>) {
    let memory = Memory::default();
    let recording = Recording {
        to: Box::new(memory.clone()),
        requested: Vec::new(),
        durable: Durable::AtItsEnd,
        checkpoints: None,
    };
    let outcome = runner().record(plan, attend(), recording).await.unwrap().outcome;
    let records = memory.0.lock().unwrap().clone();
    (outcome, records)
}

#[tokio::test]
async fn a_recorded_program_replays_with_its_modules() {
    let main = "import { up, count } from './lib/counter'; import { slow } from './lib/slow'; up(); console.log(slow); return [count, Math.random()]";
    for main in [main, WAITS] {
        let (outcome, records) = record(plan(main, "main.ts", LIB)).await;
        let recorded = Recorded::read(&records).unwrap();
        let replayed = runner().replay(&recorded).await.unwrap();
        assert!(matches!(replayed.verdict, Verdict::Same { .. }), "{:?}", replayed.verdict);
        let again = replayed.outcome.unwrap();
        assert_eq!((again.value, again.error, again.outputs), (outcome.value, outcome.error, outcome.outputs));

        let mut changed = records.clone();
        changed[0] = changed[0].replace("count++", "count--");
        let verdict = runner().replay(&Recorded::read(&changed).unwrap()).await.unwrap().verdict;
        let Verdict::Different(divergence) = verdict else { panic!("{verdict:?}") };
        assert_eq!(divergence.at, "the program", "a changed module is a changed program");
    }
}

#[tokio::test]
async fn a_journal_without_modules_is_as_before() {
    let (_, records) = record(Plan::new("return 1", "main.ts")).await;
    assert!(!records[0].contains("modules"), "{}", records[0]);
    let recorded = Recorded::read(&records).unwrap();
    assert_eq!(recorded.header.program, isolith_core::Digest::of("return 1").to_string());
    assert!(matches!(runner().replay(&recorded).await.unwrap().verdict, Verdict::Same { .. }));
}

#[tokio::test]
async fn a_replay_shows_what_was_imported() {
    let (_, records) = record(plan(WAITS, "main.ts", LIB)).await;
    let recorded = Recorded::read(&records).unwrap();
    let timer = recorded.made().next().unwrap().id;
    let look = Look { until: timer, expressions: vec!["[count, typeof up]".into()] };
    let stopped = runner().replay_until(&recorded, &look).await.unwrap().unwrap().unwrap();
    let seen = stopped.seen.unwrap();
    let of = |name: &str| seen.iter().find(|seen| seen.name == name).map(|seen| seen.value.clone());
    assert_eq!(of("fail").as_deref(), Some("[Function: fail]"));
    assert!(of("[count, typeof up]").is_some_and(|value| value.contains("'function'")), "{seen:?}");
}
