//! What V8 is inside a worker: the zygote loads it with the prelude, and each copy runs one program in it.

mod digest;
mod guest;
mod natives;
mod plain_url;
mod random;
mod settings;
pub(crate) mod told;

pub(crate) use guest::GUEST;
pub use guest::V8_INSIDE;
pub use isolith_jail::worker::main;
pub(crate) use settings::Settings;
