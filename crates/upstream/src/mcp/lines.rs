//! What a server prints, on its way to who reads it: bounded, and without secrets.

use super::MESSAGE_BYTES_MAX;
use isolith_gate::{RedactStream, Redactor};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// How much is taken at once.
const PIECE_BYTES: usize = 64 << 10;

/// The output of a server, a message a line.
///
/// A line that is too long ends it: who sends such a thing has not understood, and the rest would be thrown away for as long
/// as it likes to go on.
pub(super) struct Lines<R> {
    inner: R,
    redact: RedactStream,
    piece: Box<[u8]>,
    /// What is ready, and how much of it is gone.
    out: Vec<u8>,
    given: usize,
    /// How long the line is so far.
    line_bytes: usize,
    over: bool,
    /// Whether it ended because of a line.
    pub(super) flooded: Arc<AtomicBool>,
}

impl<R> Lines<R> {
    pub(super) fn new(inner: R, redactor: &Arc<Redactor>) -> Lines<R> {
        Lines {
            inner,
            redact: redactor.stream(),
            piece: vec![0; PIECE_BYTES].into(),
            out: Vec::new(),
            given: 0,
            line_bytes: 0,
            over: false,
            flooded: Arc::default(),
        }
    }

    /// Counts the lines in a piece.
    fn is_too_long(&mut self, read: usize) -> bool {
        let mut rest = &self.piece[..read];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if self.line_bytes + end > MESSAGE_BYTES_MAX {
                return true;
            }
            self.line_bytes = 0;
            rest = &rest[end + 1..];
        }
        self.line_bytes += rest.len();
        self.line_bytes > MESSAGE_BYTES_MAX
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.given < this.out.len() {
                let amount = buffer.remaining().min(this.out.len() - this.given);
                buffer.put_slice(&this.out[this.given..this.given + amount]);
                this.given += amount;
                return Poll::Ready(Ok(()));
            }
            if this.over {
                return Poll::Ready(Ok(()));
            }
            let mut piece = ReadBuf::new(&mut this.piece);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut piece))?;
            let read = piece.filled().len();
            if this.is_too_long(read) {
                // THREAT[T-UPSTREAM-002]: a server fills the memory of its client.
                this.flooded.store(true, Ordering::Release);
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            this.given = 0;
            this.out = if read == 0 {
                this.over = true;
                this.redact.finish()
            } else {
                this.redact.push(&this.piece[..read])
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn secrets_are_taken_out_and_long_lines_end_it() {
        let redactor = Arc::new(Redactor::new());
        redactor.add("KEY", "hunter2-hunter2");
        let (mut write, read) = tokio::io::duplex(7);
        let mut lines = Lines::new(read, &redactor);
        let feed = tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut write, b"a hunter2-hunter2 b\nc").await.unwrap();
        });
        let mut all = String::new();
        lines.read_to_string(&mut all).await.unwrap();
        feed.await.unwrap();
        assert_eq!(all, "a [redacted KEY] b\nc");

        for (line, flooded) in [(MESSAGE_BYTES_MAX, false), (MESSAGE_BYTES_MAX + 1, true)] {
            let text = [vec![b'x'; line], b"\n{}\n".to_vec()].concat();
            let mut lines = Lines::new(text.as_slice(), &redactor);
            let read = lines.read_to_end(&mut Vec::new()).await;
            assert_eq!((read.is_err(), lines.flooded.load(Ordering::Acquire)), (flooded, flooded));
        }
    }
}
