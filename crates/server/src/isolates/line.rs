//! The way back to whoever asked, for all isolates of a connection.

use crate::outbox::Outbox;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// How long one waits for room. Whoever does not read for so long loses the connection anyway.
const ROOM_TIME: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Line {
    outbox: Outbox,
    room: Arc<Room>,
}

struct Room {
    /// Bytes that wait to be written.
    waiting: AtomicUsize,
    /// As many as may wait before steps do.
    most: usize,
    written: Notify,
}

impl Line {
    /// `outbox` overflows at `most` bytes; what can wait does so long before that.
    pub(crate) fn new(outbox: Outbox, most: usize) -> Line {
        Line { outbox, room: Arc::new(Room { waiting: AtomicUsize::new(0), most: most / 4, written: Notify::new() }) }
    }

    /// Says something at once: output, which a guest cannot be made to wait with, and what is small.
    pub(crate) fn tell(&self, message: Vec<u8>) {
        self.room.waiting.fetch_add(message.len(), Ordering::Relaxed);
        self.outbox.push(message);
    }

    /// Says something when there is room, so that many large answers at once do not cost the connection.
    pub(crate) async fn tell_in_turn(&self, message: Vec<u8>) {
        let room = async {
            loop {
                let written = self.room.written.notified();
                let waiting = self.room.waiting.load(Ordering::Relaxed);
                if waiting == 0 || waiting + message.len() <= self.room.most {
                    return;
                }
                written.await;
            }
        };
        let _ = tokio::time::timeout(ROOM_TIME, room).await;
        self.tell(message);
    }

    /// So many bytes were written.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.room.waiting.fetch_sub(bytes, Ordering::Relaxed);
        self.room.written.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::outbox;

    #[tokio::test(start_paused = true)]
    async fn what_can_wait_waits_for_room_and_not_for_ever() {
        let (sender, mut outgoing) = outbox(400);
        let overflow = sender.overflow.clone();
        let line = Line::new(sender, 400);
        line.tell_in_turn(vec![0; 90]).await;
        let second = tokio::spawn({
            let line = line.clone();
            async move { line.tell_in_turn(vec![0; 90]).await }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        line.wrote(outgoing.next().await.unwrap().len());
        second.await.unwrap();
        line.tell_in_turn(vec![0; 90]).await;
        assert!(!overflow.is_cancelled(), "time went by, and it was said all the same");
    }
}
