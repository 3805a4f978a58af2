//! One connection that carries many isolates, as they use it.

use crate::peer::{Answer, Expect, Peer, Tally, Waiter, lost};
use isolith_core::wire::{MESSAGE_BYTES_MAX, request};
use isolith_core::{Digest, EngineError, OutputSink, Unsupported};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// The number of the newest isolate.
    last: Mutex<u64>,
}

/// An answer that is on its way.
pub(crate) struct Coming(oneshot::Receiver<Result<Answer, EngineError>>);

/// A message on its way out, with the room that it takes.
pub(crate) struct Outgoing {
    pub(crate) message: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Link {
    pub(crate) fn new(peer: Arc<Peer>, image: Digest, outgoing: UnboundedSender<Outgoing>) -> Link {
        Link { peer, image, outgoing, room: Arc::new(Semaphore::new(OUTBOX_KIB)), last: Mutex::new(0) }
    }

    /// Asks for one more isolate, and gives its number.
    pub(crate) async fn begin(
        &self,
        mut message: Vec<u8>,
        tally: Tally,
        sink: Arc<dyn OutputSink>,
    ) -> Result<(u64, Coming), EngineError> {
        let room = self.room(&message).await?;
        let (waiter, coming) = waiter();
        // Numbers go upwards on the wire, so one is taken and sent in one go: two that start at once would change places.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        request::renumber(&mut message, *last);
        self.peer.add(*last, tally, sink, waiter)?;
        self.put(Outgoing { message, _room: Some(room) })?;
        Ok((*last, coming))
    }

    /// Sends a request and waits for its answer, for a bounded time.
    pub(crate) async fn ask(
        &self,
        isolate: u64,
        message: Vec<u8>,
        expects: Expect,
        patience: Duration,
    ) -> Result<Answer, EngineError> {
        let room = self.room(&message).await?;
        let (waiter, coming) = waiter();
        self.peer.expect(isolate, expects, waiter)?;
        self.put(Outgoing { message, _room: Some(room) })?;
        coming.within(patience).await
    }

    /// Waits until a message may be sent.
    async fn room(&self, message: &[u8]) -> Result<OwnedSemaphorePermit, EngineError> {
        if message.len() > MESSAGE_BYTES_MAX {
            let what = format!("a message of {} bytes: the most is {MESSAGE_BYTES_MAX}", message.len());
            return Err(Unsupported { engine: crate::engine::NAME, what }.into());
        }
        let kib = u32::try_from(message.len().div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = tokio::time::timeout(ROOM_TIME, Arc::clone(&self.room).acquire_many_owned(kib)).await;
        let Ok(Ok(room)) = room else { return Err(lost("the other side reads too slowly")) };
        Ok(room)
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

impl Coming {
    /// The answer, if it comes in time.
    pub(crate) async fn within(self, patience: Duration) -> Result<Answer, EngineError> {
        match tokio::time::timeout(patience, self.0).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(EngineError::Ended),
            Err(_) => Err(lost("the other side does not answer")),
        }
    }
}

fn waiter() -> (Waiter, Coming) {
    let (sender, receiver) = oneshot::channel();
    (Box::new(move |answer| drop(sender.send(answer))), Coming(receiver))
}
