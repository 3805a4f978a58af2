//! Core and the oracle agree on what random policies say about random URLs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_fuzz::admission::{Case, compare};
use isolith_fuzz::oracle::{Answer, judge};
use isolith_fuzz::policy::Rule;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

const CASES: u32 = 60_000;

#[test]
fn core_and_the_oracle_agree() {
    let (judged, all) = (Cell::new(0_u32), Cell::new(0_u32));
    let answers: RefCell<BTreeMap<String, u32>> = RefCell::default();
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    runner
        .run(&prop::collection::vec(any::<u8>(), 40..240), |data| {
            all.set(all.get() + 1);
            judged.set(judged.get() + u32::from(compare(&data)));
            *answers.borrow_mut().entry(format!("{:?}", Case::pick(&data).decided())).or_default() += 1;
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    // An oracle that shrugs is none.
    assert!(judged.get() * 10 >= all.get() * 9, "only {} of {} cases were judged", judged.get(), all.get());
    // Nor is a generator that never comes near.
    for answer in ["Allow", "Ask", "Deny", "Invalid"] {
        let count = answers.borrow().get(answer).copied().unwrap_or_default();
        assert!(count * 50 >= all.get(), "{answer} came out {count} times in {}", all.get());
    }
}

#[test]
fn narrowing_keeps_its_laws() {
    let mut runner = TestRunner::new(Config { cases: CASES / 4, failure_persistence: None, ..Config::default() });
    runner
        .run(&prop::collection::vec(any::<u8>(), 60..320), |data| {
            isolith_fuzz::narrow::check(&data);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// The oracle itself is wrong if it does not know these.
#[test]
fn the_oracle_knows_the_basics() {
    let rule = |rule, host, paths: &[&'static str]| Rule {
        rule,
        schemes: Some(vec!["http", "https"]),
        host,
        ports: None,
        methods: Vec::new(),
        paths: paths.to_vec(),
    };
    let rules = [
        rule("allow", "*.example.com", &[]),
        rule("allow", "127.0.0.1", &["/v1"]),
        rule("ask", "a.example.com", &["/admin"]),
        rule("deny", "evil.example.com", &[]),
    ];
    for (url, answer) in [
        ("https://a.example.com/", Answer::Allow),
        ("https:\\\\A.Example.COM.:443\\x", Answer::Allow),
        ("https://a.example.com/%61dmin", Answer::Ask),
        ("https://evil.example.com:80/", Answer::Deny),
        ("http://evil.example.com/", Answer::Deny),
        ("https://example.com/", Answer::Deny),
        ("http://0x7f.1/v1/x", Answer::Allow),
        ("http://[::ffff:7f00:1]/v1", Answer::Allow),
        ("http://2130706433/v1/..%2fx", Answer::Deny),
        ("http://127.0.0.1/v1/%2e%2e/x", Answer::Deny),
        ("https://u@a.example.com/", Answer::Invalid),
        ("https://a.example.com:0/", Answer::Invalid),
        ("https://1.2.3.4.5/", Answer::Invalid),
        ("https://b\u{fc}cher.example.com/", Answer::Unsure("an international name")),
    ] {
        assert_eq!(judge(&rules, "GET", url), answer, "{url}");
    }
}

#[test]
fn every_target_takes_its_corpus() {
    for (name, check) in isolith_fuzz::TARGETS {
        let folder = std::path::Path::new("corpus").join(name);
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            check(&std::fs::read(&file).unwrap());
        }
        check(&[]);
    }
}
