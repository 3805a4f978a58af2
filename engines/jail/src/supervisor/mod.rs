//! The side that trusts nobody: it starts a zygote, asks it for workers, and talks to each.

mod inbox;
mod lease;
mod shelf;
mod watch;
mod zygote;

pub(crate) use inbox::Heard;
pub(crate) use lease::{Lease, LeaseError, Most};
pub(crate) use shelf::Shelf;
pub(crate) use watch::Watch;
pub use zygote::ZygoteError;
