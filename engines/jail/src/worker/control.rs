//! What a supervisor and a zygote say to each other.

/// The most that a supervisor tells a zygote at once.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// What a supervisor asks a zygote for.
pub(crate) const ASK_FOR_COPY: &[u8] = b"copy";
/// What a zygote answers before the reason.
pub(crate) const FAILED: &str = "failed: ";
