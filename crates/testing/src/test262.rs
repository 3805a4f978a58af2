//! Runs a checkout of ECMAScript's own test suite, test262, on the engine `quickjs`.
//!
//! Every test gets a fresh isolate, once for each of the modes its [`FrontMatter`] asks for. The suite itself is not
//! part of this repository; `test262-sample/` holds a small folder in its format, to test the runner with.

mod assemble;
mod execute;
mod features;
mod front_matter;
mod judge;
mod modules;
mod report;
mod suite;

pub use assemble::Variant;
pub use front_matter::{Flag, FrontMatter, FrontMatterError, Negative, Phase};
pub use judge::Verdict;
pub use report::{Broken, Report, Tally};
pub use suite::{Options, Suite, Test262Error};
