//! The runner of ECMAScript's own suite, held against a small suite whose outcome is known.

use isolith_testing::test262::{Broken, Options, Report, Suite, Tally, Test262Error, Variant};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

fn sample() -> PathBuf {
    PathBuf::from("test262-sample")
}

fn options(jobs: usize) -> Options {
    Options { jobs, limit: Duration::from_millis(300) }
}

fn run(path: &str, filter: Option<&str>) -> Result<Report, Test262Error> {
    Suite::open(&sample().join(path), filter)?.run(options(2), &|| {})
}

fn tally(passed: u32, failed: u32, skipped: u32) -> Tally {
    Tally { passed, failed, skipped }
}

#[test]
fn every_test_of_the_sample_ends_as_it_should() -> Result<(), Test262Error> {
    let report = run("", None)?;
    let folders: Vec<(&str, Tally)> = report.folders.iter().map(|(name, tally)| (name.as_str(), *tally)).collect();
    let expected = [
        ("async", tally(4, 0, 0)),
        ("fails", tally(0, 16, 0)),
        ("includes", tally(4, 0, 0)),
        ("intl402", tally(0, 0, 1)),
        ("language", tally(16, 0, 0)),
        ("module", tally(14, 0, 0)),
        ("negative", tally(7, 0, 0)),
        ("skips", tally(0, 0, 4)),
    ];
    assert_eq!(folders, expected, "{}", report.text());
    assert_eq!(report.total, tally(45, 16, 5));
    assert_eq!(report.runs, 84);
    Ok(())
}

#[test]
fn tests_that_are_wrong_are_reported_with_their_reason() -> Result<(), Test262Error> {
    use Variant::{Module, Raw, Sloppy, Strict};
    let report = run("test/fails", None)?;
    let rows = [
        ("assertion.js", Some(Sloppy), "Thrown: one: expected 2 but got 1"),
        ("assertion.js", Some(Strict), "Thrown: one: expected 2 but got 1"),
        ("async-and-throws.js", Some(Sloppy), "TypeError: after all"),
        ("async-done-twice.js", Some(Sloppy), "it called $DONE 2 times"),
        ("async-failure.js", Some(Sloppy), "TypeError: refused"),
        ("async-without-end.js", Some(Sloppy), "it never called $DONE"),
        ("endless.js", Some(Raw), "the program computed for longer than its CPU limit"),
        ("in-strict-mode.js", Some(Strict), "Thrown: this: did not expect undefined"),
        (
            "include-that-is-not-there.js",
            Some(Strict),
            "cannot read harness file `not-there.js`: No such file or directory (os error 2)",
        ),
        (
            "module-that-is-not-there.js",
            Some(Module),
            "TypeError before it ran: module `test/fails/not-there_FIXTURE.js` is not granted",
        ),
        ("negative-that-passes.js", Some(Sloppy), "expected TypeError at run time, but nothing failed"),
        (
            "negative-too-early.js",
            Some(Sloppy),
            "expected SyntaxError at run time, but: SyntaxError before it ran: variable name expected",
        ),
        (
            "negative-too-late.js",
            Some(Sloppy),
            "expected SyntaxError at parse, but: SyntaxError: variable name expected",
        ),
        ("negative-with-another-error.js", Some(Sloppy), "expected TypeError at run time, but: RangeError: another"),
        ("no-front-matter.js", None, "there is no front matter"),
        ("not-a-program.js", Some(Sloppy), "SyntaxError before it ran: variable name expected"),
        ("unknown-flag.js", None, "flag `onlySometimes` is unknown"),
    ];
    let broken = |(name, variant, reason): (&str, _, &str)| Broken {
        test: format!("fails/{name}"),
        variant,
        reason: reason.into(),
    };
    assert_eq!(report.failures, rows.map(broken));
    Ok(())
}

#[test]
fn what_is_skipped_is_counted_with_its_reason() -> Result<(), Test262Error> {
    let report = run("", None)?;
    let one_thread = "a program is one thread and shares no memory";
    let expected = BTreeMap::from([
        (format!("Atomics: {one_thread}"), 1),
        (format!("CanBlockIsTrue: {one_thread}"), 1),
        ("Intl: of Intl only the basics are there".into(), 1),
        (format!("SharedArrayBuffer: {one_thread}"), 1),
        ("Temporal: QuickJS does not have it".into(), 1),
    ]);
    assert_eq!(report.skips, expected);
    Ok(())
}

#[test]
fn features_are_counted() -> Result<(), Test262Error> {
    let report = run("", None)?;
    let of = |feature| report.features.get(feature).copied();
    assert_eq!(of("Symbol"), Some(tally(1, 1, 0)));
    assert_eq!(of("dynamic-import"), Some(tally(2, 0, 0)));
    assert_eq!(of("SharedArrayBuffer"), Some(tally(0, 0, 2)));
    Ok(())
}

#[test]
fn a_folder_a_file_or_a_part_of_a_path_can_be_chosen() -> Result<(), Test262Error> {
    assert_eq!(run("test/module", None)?.total, tally(14, 0, 0));
    assert_eq!(run("test/language/raw.js", None)?.total, tally(1, 0, 0));
    assert_eq!(run("test", Some("negative/parse"))?.total, tally(3, 0, 0));
    assert_eq!(run("", Some("fails/async"))?.total, tally(0, 4, 0));
    assert_eq!(run("", Some("no such test"))?.total, tally(0, 0, 0));
    Ok(())
}

#[test]
fn the_number_of_jobs_changes_nothing() -> Result<(), Test262Error> {
    let suite = Suite::open(&sample(), None)?;
    let heard = AtomicUsize::new(0);
    let one = suite.run(options(1), &|| {
        heard.fetch_add(1, SeqCst);
    })?;
    let many = suite.run(options(8), &|| {})?;
    assert_eq!(Report { elapsed_ms: 0, ..one }, Report { elapsed_ms: 0, ..many });
    assert_eq!(heard.load(SeqCst), suite.len());
    Ok(())
}

#[test]
fn what_is_no_suite_is_refused() {
    let open = |path: &Path| Suite::open(path, None).map(|suite| suite.len());
    assert!(matches!(open(Path::new("/")), Err(Test262Error::NotASuite(_))));
    assert!(matches!(open(&sample().join("nothing")), Err(Test262Error::Open { .. })));
}

fn command(arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_test262")).arg(sample()).args(["--limit-ms", "300"]).args(arguments).output()
}

#[test]
fn the_command_says_how_it_went() -> std::io::Result<()> {
    let passed = command(&["--filter", "module/", "--jobs", "1"])?;
    let text = String::from_utf8_lossy(&passed.stdout);
    assert!(text.contains("\n14 passed, 0 failed, 0 skipped; 16 runs in "), "{text}");
    assert_eq!((passed.status.code(), passed.stderr.len()), (Some(0), 0));

    let failed = command(&["--filter", "fails/in-strict-mode"])?;
    let text = String::from_utf8_lossy(&failed.stdout);
    assert!(
        text.starts_with("FAIL fails/in-strict-mode.js (strict): Thrown: this: did not expect undefined\n"),
        "{text}"
    );
    assert_eq!(failed.status.code(), Some(1));

    let refused = Command::new(env!("CARGO_BIN_EXE_test262")).arg("/").output()?;
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(text.starts_with("error: `/` is not in a checkout of test262"), "{text}");
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
    Ok(())
}

#[test]
fn the_command_writes_json() -> Result<(), Box<dyn std::error::Error>> {
    let output = command(&["--json", "--filter", "fails/assertion"])?;
    let mut report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    report["elapsed_ms"] = 0.into();
    let counts = serde_json::json!({ "passed": 0, "failed": 1, "skipped": 0 });
    let reason = "Thrown: one: expected 2 but got 1";
    let failure = |variant| serde_json::json!({ "test": "fails/assertion.js", "variant": variant, "reason": reason });
    let expected = serde_json::json!({
        "total": counts,
        "runs": 2,
        "folders": { "fails": counts },
        "features": { "Symbol": counts },
        "skips": {},
        "failures": [failure("sloppy"), failure("strict")],
        "elapsed_ms": 0,
    });
    assert_eq!(report, expected);
    assert_eq!(output.status.code(), Some(1));
    Ok(())
}
