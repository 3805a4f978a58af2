//! One connection that carries many isolates, as they use it.

use crate::peer::{Answer, Expect, Peer, lost};
use isolith_core::wire::{MESSAGE_BYTES_MAX, request};
use isolith_core::{Digest, EngineError, Unsupported};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// What may wait to be written; whoever wants to send more waits.
const OUTBOX_KIB: usize = 64 << 10;
/// How long one waits for room in it.
const ROOM_TIME: Duration = Duration::from_secs(30);

pub(crate) struct Link {
    pub(crate) peer: Arc<Peer>,
    /// What the engine over there is built from.
    pub(crate) image: Digest,
    outgoing: UnboundedSender<Outgoing>,
    room: Arc<Semaphore>,
    next: AtomicU64,
}

/// A message on its way out, with the room that it takes.
pub(crate) struct Outgoing {
    pub(crate) message: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Link {
    pub(crate) fn new(peer: Arc<Peer>, image: Digest, outgoing: UnboundedSender<Outgoing>) -> Link {
        Link { peer, image, outgoing, room: Arc::new(Semaphore::new(OUTBOX_KIB)), next: AtomicU64::new(1) }
    }

    /// A number for one more isolate.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// Sends a request and waits for its answer, for a bounded time.
    pub(crate) async fn ask(
        &self,
        isolate: u64,
        message: Vec<u8>,
        expects: Expect,
        patience: Duration,
    ) -> Result<Answer, EngineError> {
        if message.len() > MESSAGE_BYTES_MAX {
            let what = format!("a message of {} bytes: the most is {MESSAGE_BYTES_MAX}", message.len());
            return Err(Unsupported { engine: crate::engine::NAME, what }.into());
        }
        let kib = u32::try_from(message.len().div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = tokio::time::timeout(ROOM_TIME, Arc::clone(&self.room).acquire_many_owned(kib)).await;
        let Ok(Ok(room)) = room else { return Err(lost("the other side reads too slowly")) };
        let (sender, receiver) = oneshot::channel();
        let waiter = Box::new(move |answer| drop(sender.send(answer)));
        self.peer.expect(isolate, expects, waiter)?;
        self.put(Outgoing { message, _room: Some(room) })?;
        match tokio::time::timeout(patience, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(EngineError::Ended),
            Err(_) => Err(lost("the other side does not answer")),
        }
    }

    /// The same where nobody can wait but the thread itself. The message is small.
    pub(crate) fn ask_blocking(
        &self,
        isolate: u64,
        message: Vec<u8>,
        expects: Expect,
        patience: Duration,
    ) -> Result<Answer, EngineError> {
        let (sender, receiver) = sync_channel(1);
        self.peer.expect(isolate, expects, Box::new(move |answer| drop(sender.try_send(answer))))?;
        self.put(Outgoing { message, _room: None })?;
        receiver.recv_timeout(patience).unwrap_or_else(|_| Err(lost("the other side does not answer")))
    }

    /// An isolate is not needed any more. What is on its way about it is not listened to.
    pub(crate) fn release(&self, isolate: u64) {
        if self.peer.remove(isolate) {
            let _ = self.put(Outgoing { message: request::drop(isolate), _room: None });
        }
    }

    fn put(&self, outgoing: Outgoing) -> Result<(), EngineError> {
        self.outgoing.send(outgoing).map_err(|_| lost("the connection is lost"))
    }
}
