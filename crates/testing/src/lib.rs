//! Everything that holds an engine against its promises: the conformance suite, attacks, ECMAScript's own tests.
//!
//! A [`Case`] is a small program with the outcome it must have, an [`Attack`] a hostile one with what must hold
//! whatever it does. [`Fixtures`] is the host both talk to. [`test262`] runs a checkout of the language's own suite.
//! The tests of this crate drive all of it; it works with any engine behind a [`Runner`](isolith_runner::Runner).

mod attack;
mod case;
mod engines;
mod expected;
mod fixtures;
mod header;
mod process;
mod run;
mod siege;
mod slack;
pub mod step;
mod suite;
pub mod test262;
mod tool;
mod trials;

pub use attack::{Attack, AttackGrants, AttackLimits, Class, Code, Ended, Expect, HostCheck, Neighbour, attacks};
pub use case::{Case, CaseError};
pub use engines::engines;
pub use expected::{Expected, Mismatch, Mistake, check};
pub use fixtures::{Fixtures, Late};
pub use header::{Header, HeaderError};
pub use process::{Peak, open_files, resident_bytes};
pub use run::{run, steady};
pub use siege::{Besieged, attacks_main};
pub use slack::slack;
pub use suite::{Found, SuiteError, conformance, conformance_root};
pub use tool::Tool;
pub use trials::{Suite, conformance_main};
