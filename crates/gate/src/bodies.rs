use isolith_core::{BoxFuture, CallError};

/// Bytes that come piece by piece: a response, a file.
pub trait BodySource: Send {
    /// The next bytes, at most `most` of them; none at the end.
    fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>>;
}
