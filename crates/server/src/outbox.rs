//! What waits to be written to one client. Bounded: a client that does not read loses its connection, and nothing else.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(crate) struct Outbox {
    sender: UnboundedSender<Bytes>,
    waiting: Arc<AtomicUsize>,
    most: usize,
    /// Cancelled when too much waits.
    pub(crate) overflow: CancellationToken,
}

pub(crate) struct Outgoing {
    receiver: UnboundedReceiver<Bytes>,
    waiting: Arc<AtomicUsize>,
}

pub(crate) fn outbox(most: usize) -> (Outbox, Outgoing) {
    let (sender, receiver) = unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let outgoing = Outgoing { receiver, waiting: Arc::clone(&waiting) };
    (Outbox { sender, waiting, most, overflow: CancellationToken::new() }, outgoing)
}

impl Outbox {
    // THREAT[T-SERVER-009]: whoever starts runs and never reads what they say would fill our memory.
    pub(crate) fn push(&self, message: impl Into<Bytes>) {
        let message = message.into();
        let waiting = self.waiting.fetch_add(message.len(), Ordering::Relaxed) + message.len();
        if waiting > self.most {
            self.overflow.cancel();
            return;
        }
        let _ = self.sender.send(message);
    }
}

impl Outgoing {
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        let message = self.receiver.recv().await?;
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }

    /// One more that waits already.
    pub(crate) fn more(&mut self) -> Option<Bytes> {
        let message = self.receiver.try_recv().ok()?;
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }
}
