//! What every test here needs: the library, a worker, and a way to run a program.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "not every test uses all of it")]

pub use isolith_testing::step::{Kept, body, calls, descendants, run, start, turn, value};
use isolith_v8::install::{self, Installed};
use isolith_v8::{Launch, Options, V8};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Where the library is looked for, before it is fetched.
const FOLDER: &str = "ISOLITH_V8";

/// The library: from the folder that the environment names, or from the cache; fetched by pip where it is in neither.
pub fn installed() -> Installed {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock();
    let folder = match std::env::var_os(FOLDER) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/tmp".into())).join(".cache");
            std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("isolith").join("v8")
        }
    };
    Installed::find(&folder).unwrap_or_else(|_| install::by_pip(&folder).expect("V8 can be fetched by pip"))
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
