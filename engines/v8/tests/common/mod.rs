//! What every test here needs: the library, a worker, and a way to run a program.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "not every test uses all of it")]

pub use isolith_testing::step::{Kept, body, calls, descendants, run, start, turn, value};
use isolith_v8::install::{self, Installed};
use isolith_v8::{Launch, Options, V8};
use std::collections::BTreeMap;

/// The library, which all tests share.
pub fn installed() -> Installed {
    install::cached().expect("V8 can be fetched by pip")
}

/// The worker of the tests, which cargo has built beside them.
pub fn launch() -> Launch {
    Launch { keep_stderr: true, ..Launch::new(env!("CARGO_BIN_EXE_isolith-v8-worker"), &["v8"]) }
}

pub fn engine(options: Options) -> V8 {
    V8::start(&installed(), launch(), options).expect("the engine starts")
}

/// Names, and why.
pub type Reasons = BTreeMap<String, String>;

/// What may differ in V8, and why: attacks by their names, and programs of the conformance suite.
pub fn differences() -> Result<(Reasons, Reasons), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(isolith_testing::conformance_root().join("differences-v8.toml"))?;
    let all: Reasons = toml::from_str(&text)?;
    let (attacks, programs): (Reasons, Reasons) = all.into_iter().partition(|(name, _)| name.starts_with("attacks/"));
    let named = |(name, why): (String, String)| (name.trim_start_matches("attacks/").to_owned(), why);
    Ok((attacks.into_iter().map(named).collect(), programs))
}
