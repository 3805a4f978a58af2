//! A connection as the sockets have it: counted for as long as it is open, and given up when its other end stops.

use crate::metrics::Metrics;
use crate::runs::Runs;
use std::future::Future as _;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

/// What HTTP/2 begins with. Until this much is here nobody knows what a client speaks, and nobody else counts the time.
const PREFACE_BYTES: usize = 24;

/// A place among the connections. It goes along when a request becomes a WebSocket.
pub(crate) struct Slot {
    runs: Arc<Runs>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    pub(crate) fn new(runs: Arc<Runs>, permit: OwnedSemaphorePermit) -> Slot {
        runs.metrics.connections.fetch_add(1, Relaxed);
        Slot { runs, _permit: permit }
    }

    fn metrics(&self) -> &Metrics {
        &self.runs.metrics
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.metrics().connections.fetch_sub(1, Relaxed);
    }
}

// THREAT[T-SERVER-012]: a client that connects and says nothing, or asks and never reads, would hold what was made for it forever.
/// A stream whose other end has to begin, and to take what is written, within a time.
pub(crate) struct Wire<S> {
    stream: S,
    patience: Duration,
    /// Until enough was read to know what the client speaks.
    begin: Option<Pin<Box<Sleep>>>,
    read: usize,
    /// While nothing of what is to be written is taken.
    stalled: Option<Pin<Box<Sleep>>>,
    _slot: Slot,
}

impl<S> Wire<S> {
    pub(crate) fn new(stream: S, slot: Slot, patience: Duration) -> Wire<S> {
        let begin = Some(Box::pin(tokio::time::sleep(patience)));
        Wire { stream, patience, begin, read: 0, stalled: None, _slot: slot }
    }

    /// What came of writing: a stream that takes nothing for too long is broken.
    fn written<T>(&mut self, cx: &mut Context<'_>, done: Poll<Result<T>>) -> Poll<Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let done = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let Some(begin) = &mut this.begin else { return done };
        this.read += buffer.filled().len() - before;
        if this.read >= PREFACE_BYTES {
            this.begin = None;
            return done;
        }
        if done.is_pending() {
            ready!(begin.as_mut().poll(cx));
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not begin")));
        }
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        this.begin = None;
        let done = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(cx, done)
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        this.begin = None;
        let done = Pin::new(&mut this.stream).poll_write_vectored(cx, parts);
        this.written(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_flush(cx);
        this.written(cx, done)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.written(cx, done)
    }
}
