//! The same engine behind a second wall: each isolate in a jailed process of its own.
//!
//! The isolate is the same and so is everything that can be seen of it: its name, its image, its states and its journals. What
//! differs is what a bug in WebAssembly's sandbox would give: here a process that has nothing, and which ends with its run.

mod dialect;
mod inside;
mod relay;

use crate::engine::NAME;
use crate::image::Image;
use isolith_jail::{Jailed, Kind, Launch, Options, ZygoteError};

pub use inside::QUICKJS_INSIDE;
pub(crate) use relay::Relay;

/// The engine `quickjs` with a jailed process for each run.
pub fn jailed(launch: Launch, options: Options) -> Result<Jailed, ZygoteError> {
    let kind = Kind {
        name: NAME,
        image: Image::digest(),
        builtins: &[],
        dialect: Box::new(dialect::QuickJsDialect),
        settings: serde_json::Value::Null,
        memory_step_bytes: 1,
    };
    Jailed::start(kind, launch, options)
}
