//! The shared parser tests (npm's `test262-parser-tests`) through the engine: what must not parse is a syntax error, and
//! what must parse is not. `ISOLITH_PARSER_TESTS` names the unpacked package.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test says what is wrong by failing")]

use isolith_core::{
    End, Engine, ErrorKind, Form, Limits, OutputSink, Program, Seed, Start, Step, Stream, Timestamp, Turn,
};
use isolith_quickjs::{Options, QuickJs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

struct Silent;

impl OutputSink for Silent {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

/// Whether the engine refuses the source as one that is no program.
async fn is_syntax_error(engine: &QuickJs, source: &str, form: Form) -> bool {
    let limits = Limits { cpu: Duration::from_millis(20), wall: Duration::from_secs(5), ..Limits::default() };
    let start = Start {
        limits,
        bindings: Default::default(),
        ambient: Default::default(),
        input: None,
        args: vec![],
        seed: Seed::from_number(1),
        sink: Arc::new(Silent),
        must_suspend: false,
    };
    let mut isolate = engine.start(&Program::new("test.js", source, form), start).await.unwrap();
    let turn = Turn { now: Timestamp::from_micros(0), wall_left: limits.wall, replies: vec![] };
    let step = isolate.advance(turn).await.unwrap();
    matches!(step, Step::Done(End::Failed(failure), _) if failure.kind == ErrorKind::Syntax)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[tokio::test]
async fn the_engine_agrees_with_the_shared_parser_tests() {
    let Some(root) = std::env::var_os("ISOLITH_PARSER_TESTS").map(PathBuf::from) else {
        eprintln!("ISOLITH_PARSER_TESTS is not set: nothing is checked here, `./test` sets it");
        return;
    };
    let engine = QuickJs::new(Options { live: 4, ..Options::default() }).unwrap();
    let (mut failures, mut total) = (BTreeSet::new(), 0);
    for (folder, wrong) in [("pass", false), ("pass-explicit", false), ("fail", true), ("early", true)] {
        for file in files(&root.join(folder)) {
            // A source is UTF-8 by the time it reaches an engine.
            let Ok(source) = String::from_utf8(std::fs::read(&file).unwrap()) else { continue };
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let form = if name.ends_with(".module.js") { Form::Module } else { Form::Script };
            total += 1;
            if is_syntax_error(&engine, &source, form).await != wrong {
                failures.insert(format!("{folder}/{name}"));
            }
        }
    }
    eprintln!("{} of {total} agree", total - failures.len());
    assert!(total > 5_000, "only {total} tests were found");
    let known = std::fs::read_to_string("tests/parser_failures.txt").unwrap();
    let known: BTreeSet<String> =
        known.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(str::to_owned).collect();
    let new: Vec<_> = failures.difference(&known).collect();
    let mended: Vec<_> = known.difference(&failures).collect();
    assert!(new.is_empty(), "these went wrong: {new:?}");
    assert!(mended.is_empty(), "these agree now: take them off the list: {mended:?}");
}
