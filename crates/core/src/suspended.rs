/// A waiting run taken out of memory, as opaque bytes of the engine that made it.
///
/// Only that engine reads them, and only when they are whole and were made by the same build from the same image.
/// They hold the guest's memory, so they are as secret as what the guest has seen, and they are never accepted from
/// a caller: what is resumed must have been stored by us.
#[derive(Clone, PartialEq, Eq)]
pub struct Suspended(pub Vec<u8>);

impl std::fmt::Debug for Suspended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Suspended({} bytes)", self.0.len())
    }
}

/// Why a suspended run cannot be brought back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuspendedError {
    /// Not the bytes that were written.
    #[error("the suspended run is damaged: {0}")]
    Damaged(&'static str),
    /// Written by another kind of engine, or in a format this build does not know.
    #[error("the suspended run has a format this build does not read (format {found}, this build reads {known})")]
    Format {
        /// What the bytes say.
        found: u32,
        /// What this build reads.
        known: u32,
    },
    /// Written from another image: another engine build or prelude.
    #[error("the suspended run was made by another build of the engine (image {found}, this build has {own})")]
    Image {
        /// What the bytes say.
        found: String,
        /// This build's.
        own: String,
    },
    /// Larger than the limit.
    #[error("the suspended run is {bytes} bytes, but the limit is {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}
