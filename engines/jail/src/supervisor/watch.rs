use super::lease::{Lease, Process};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Between two looks at all workers; longer where there are so many that looking would be work.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_EACH: Duration = Duration::from_millis(1);

// THREAT[T-LIMIT-005]: a worker that was taken over holds memory that the kernel does not count.
/// Looks at the memory of workers from outside, for as long as there are any, and kills one that holds more than it may.
///
/// The kernel bounds what a worker can write to. One that was taken over can fill pages and take the right to write from them, as a
/// compiler must be able to; those are not counted any more, and there would be no end to them.
#[derive(Default)]
pub(crate) struct Watch(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    workers: Vec<Worker>,
    somebody_looks: bool,
}

#[derive(Clone)]
struct Worker {
    process: Weak<Process>,
    most_bytes: u64,
}

impl Watch {
    /// Has a worker looked at until it is gone. To be called inside a runtime.
    pub(crate) fn over(&self, lease: &Lease, most_bytes: u64) {
        let mut watched = lock(&self.0);
        watched.workers.push(Worker { process: lease.process(), most_bytes });
        if !std::mem::replace(&mut watched.somebody_looks, true) {
            tokio::spawn(look(Looking(Arc::clone(&self.0))));
        }
    }
}

/// Who looks. A runtime that ends ends this too, and the next worker gets another.
struct Looking(Arc<Mutex<Watched>>);

impl Drop for Looking {
    fn drop(&mut self) {
        lock(&self.0).somebody_looks = false;
    }
}

async fn look(looking: Looking) {
    let mut pause = PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        let workers = lock(&looking.0).workers.clone();
        pause = PAUSE.max(PAUSE_EACH * workers.len() as u32);
        let looked = tokio::task::spawn_blocking(move || workers.iter().for_each(Worker::look));
        let Ok(()) = looked.await else { return };
        let mut watched = lock(&looking.0);
        watched.workers.retain(|worker| worker.process.strong_count() > 0);
        if watched.workers.is_empty() {
            // Said while nobody can come: whoever comes next finds that nobody looks.
            watched.somebody_looks = false;
            return;
        }
    }
}

impl Worker {
    fn look(&self) {
        let Some(process) = self.process.upgrade() else { return };
        if process.resident_bytes().is_some_and(|bytes| bytes > self.most_bytes) {
            process.kill_too_large();
        }
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}
