use crate::options::Options;
use isolith_core::EngineError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for runs, and those who wait for one.
pub(crate) struct Queue {
    live: Arc<Semaphore>,
    waiting: AtomicUsize,
    options: Options,
}

impl Queue {
    pub(crate) fn new(options: Options) -> Queue {
        Queue { live: Arc::new(Semaphore::new(options.live as usize)), waiting: AtomicUsize::new(0), options }
    }

    /// A place for one more run, or `Busy`.
    pub(crate) async fn place(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        if let Ok(place) = Arc::clone(&self.live).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = Queued::join(&self.waiting, self.options.queue).ok_or_else(|| self.busy())?;
        match tokio::time::timeout(self.options.queue_wait, Arc::clone(&self.live).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(self.busy()),
        }
    }

    fn busy(&self) -> EngineError {
        let live = self.options.live as usize - self.live.available_permits();
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
