use isolith_core::EngineError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for runs, and those who wait for one. Every engine that has a bounded number of them has one of these.
pub struct Queue {
    places: u32,
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_most: usize,
    wait: Duration,
}

impl Queue {
    /// As many places, as many who may wait for one, and how long they do.
    pub fn new(places: u32, waiting_most: usize, wait: Duration) -> Queue {
        let free = Arc::new(Semaphore::new(places as usize));
        Queue { places, free, waiting: AtomicUsize::new(0), waiting_most, wait }
    }

    /// A place for one more run, or `Busy`.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = Queued::join(&self.waiting, self.waiting_most).ok_or_else(|| self.busy())?;
        match tokio::time::timeout(self.wait, Arc::clone(&self.free).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(self.busy()),
        }
    }

    fn busy(&self) -> EngineError {
        let live = self.places as usize - self.free.available_permits();
        EngineError::Busy { live, waiting: self.waiting.load(SeqCst) }
    }
}

/// One caller in the queue, for as long as this lives.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn join(waiting: &'a AtomicUsize, most: usize) -> Option<Queued<'a>> {
        if waiting.fetch_add(1, SeqCst) < most {
            return Some(Queued(waiting));
        }
        waiting.fetch_sub(1, SeqCst);
        None
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
