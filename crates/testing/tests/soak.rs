//! Many runs in one process, good and hostile ones mixed: every one ends as it should, and the process stays what it was.

use isolith_runner::Runner;
use isolith_testing::{Case, Fixtures, Late, check, engines, open_files, resident_bytes, run};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::runtime::Builder;

/// How many runs; the environment may say otherwise.
const RUNS: usize = 10_000;
const RUNS_VARIABLE: &str = "ISOLITH_SOAK_RUNS";
const THREADS: usize = 2;
/// After this part of the runs, every kind of program has been run often: from here on nothing may grow.
const WARM_PART: usize = 5;
/// How much larger the process may be at the end than when it was warm: what allocators and thread stacks may still take.
const GROWTH_BYTES_MAX: u64 = 8 << 20;

/// What runs, in the format of the conformance suite. Each of these comes as often as the others.
const PROGRAMS: &[(&str, &str)] = &[
    ("sum.js", "return 40 + 2;\n//> value: 42"),
    (
        "text.js",
        "const all = []; for (let i = 0; i < 500; i++) all.push(`${i}`.padStart(5)); return all.join('').length;\n//> value: 2500",
    ),
    (
        "log.js",
        "console.log('a', { b: [1] }); console.error('c');\n//> value: undefined\n//> stdout: \"a { b: [ 1 ] }\"\n//> stderr: \"c\"",
    ),
    ("types.ts", "interface A { n: number } const a: A = { n: 3 }; enum E { X = 4 } return a.n + E.X;\n//> value: 7"),
    (
        "echo.js",
        "//! tools = [\"echo\"]\nlet sum = 0; for (let i = 0; i < 20; i++) sum += await tools.echo(i); return sum;\n//> value: 190",
    ),
    (
        "parallel.js",
        "//! tools = [\"echo\", \"fail\"]\nconst all = await Promise.allSettled([...Array(30).keys()].map(i => i % 3 ? tools.echo({ i }) : \
         tools.fail('no'))); return all.filter(r => r.status === 'fulfilled').length;\n//> value: 20",
    ),
    (
        "body.js",
        "//! tools = [\"body\"]\nconst body = await tools.body({ bytes: 200000 }); return (await body.bytes()).length;\n//> value: 200000",
    ),
    (
        "unread.js",
        "//! tools = [\"body\"]\nconst unread = await tools.body({ bytes: 50000000 });\n//> value: undefined",
    ),
    (
        "unheard.js",
        "//! tools = [\"echo\", \"fail\"]\ntools.fail('unheard'); tools.echo('x'.repeat(10000)); return 1;\n//> value: 1",
    ),
    (
        "timers.js",
        "//! time = 0\n//! seed = 1\nlet n = 0; await new Promise(r => { const t = setInterval(() => { if (++n === 50) { clearInterval(t); r(); } }, \
         1000); }); return [n, Date.now()];\n//> value: [50,50000]",
    ),
    ("throws.js", "const f = () => { throw new TypeError('x'); };\nf();\n//> error: thrown TypeError\n//> line: 1"),
    ("rejects.js", "for (let i = 0; i < 100; i++) Promise.reject(i);\nreturn 'fine';\n//> value: \"fine\""),
    ("syntax.js", "const x = ;\n//> error: syntax"),
    ("stalled.js", "await new Promise(() => {});\n//> error: stalled"),
    ("loop.js", "//! limits = { cpu_ms = 5 }\nfor (;;);\n//> error: cpu_limit"),
    ("microtasks.js", "//! limits = { cpu_ms = 5 }\nfor (;;) await 0;\n//> error: cpu_limit"),
    ("regex.js", "//! limits = { cpu_ms = 5 }\nreturn /^(a+)+$/.test('a'.repeat(40) + '!');\n//> error: cpu_limit"),
    (
        "bigint.js",
        "//! limits = { cpu_ms = 5, memory_mb = 8 }\nlet x = 3n; for (;;) x = x * x;\n//> any: error cpu_limit,memory_limit,thrown",
    ),
    (
        "memory.js",
        "//! limits = { memory_mb = 8 }\nconst a = []; for (;;) a.push(new Array(1000).fill(0));\n//> error: memory_limit",
    ),
    (
        "buffers.js",
        "//! limits = { memory_mb = 8 }\nconst a = []; for (;;) a.push(new Uint8Array(1 << 16));\n//> error: memory_limit",
    ),
    ("deep.js", "const f = () => f() + 1;\nreturn f();\n//> error: stack_overflow"),
    ("flood.js", "//! limits = { output_kb = 16 }\nfor (;;) console.log('line');\n//> error: output_limit"),
    ("large.js", "//! limits = { value_kb = 16 }\nreturn 'x'.repeat(100000);\n//> error: output_limit"),
    (
        "calls.js",
        "//! tools = [\"inc\"]\n//! limits = { calls = 10 }\nfor (;;) await tools.inc();\n//> error: call_limit",
    ),
    ("hang.js", "//! tools = [\"hang\"]\n//! limits = { wall_ms = 5 }\nawait tools.hang();\n//> error: timeout"),
    ("sleep.js", "//! limits = { wall_ms = 5 }\nawait new Promise(r => setTimeout(r, 60000));\n//> error: timeout"),
    (
        "tamper.js",
        "Object.prototype.then = 1; Array.prototype.push = null; JSON.stringify = null; return [1];\n//> value: [1]",
    ),
];

/// What the process has.
#[derive(Debug)]
struct Size {
    resident_bytes: u64,
    files: usize,
}

impl Size {
    fn now() -> std::io::Result<Size> {
        Ok(Size { resident_bytes: resident_bytes()?, files: open_files()? })
    }
}

#[test]
fn runs_end_as_they_should_and_leave_nothing_behind() -> Result<(), Box<dyn Error>> {
    let runs = std::env::var(RUNS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    let cases: Vec<Case> =
        PROGRAMS.iter().map(|(name, text)| Case::parse(&format!("soak/{name}"), text)).collect::<Result<_, _>>()?;
    let cases: Arc<[Case]> = cases.into();
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    for engine in engines()? {
        let runner = Runner::new(engine);
        // Rounds are whole: each part of the runs has the same programs.
        let round = |runs: usize| runs.div_ceil(cases.len()) * cases.len();
        let soak = |runs| runtime.block_on(rounds(runner.clone(), Arc::clone(&cases), runs));
        let warm_runs = round(runs / WARM_PART);
        soak(warm_runs)?;
        let warm = Size::now()?;
        soak(round(runs - runs / WARM_PART))?;
        let end = Size::now()?;
        let grown = end.resident_bytes.saturating_sub(warm.resident_bytes);
        assert!(grown <= GROWTH_BYTES_MAX, "memory grew by {} KiB: {warm:?}, {end:?}", grown >> 10);
        assert_eq!(end.files, warm.files, "files are left open");
    }
    Ok(())
}

/// Runs that many programs, on as many tasks as there are threads.
async fn rounds(runner: Runner, cases: Arc<[Case]>, runs: usize) -> Result<(), Box<dyn Error>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..THREADS {
        let (runner, cases, next) = (runner.clone(), Arc::clone(&cases), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, SeqCst);
                if number >= runs {
                    return Ok(());
                }
                let case = &cases[number % cases.len()];
                one(&runner, case).await.map_err(|error| format!("run {number}, {}: {error}", case.file))?;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended?.map_err(|error: String| error)?;
    }
    Ok(())
}

async fn one(runner: &Runner, case: &Case) -> Result<(), String> {
    let fixtures = Arc::new(Fixtures::new(case.header.tools.iter().copied()));
    let plan = case.plan().map_err(|error| error.to_string())?;
    let outcome = run(runner, plan, &fixtures).await.map_err(|error| error.to_string())?;
    check(case, &outcome).map_err(|mismatch| mismatch.to_string())?;
    let (listed, made, late) = (outcome.calls.len() as u32, fixtures.performed(), fixtures.late());
    match (listed == made, late == Late::default()) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("{made} calls were made, {listed} are listed")),
        (true, false) => Err(format!("after the result: {late:?}")),
    }
}
