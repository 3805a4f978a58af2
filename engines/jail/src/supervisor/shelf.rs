use super::lease::{Lease, Remains};
use super::zygote::{Zygote, ZygoteError};
use crate::options::Launch;
use crate::os;
use crate::worker::Settings;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long to wait before another zygote is tried after one that failed.
const PAUSE: Duration = Duration::from_millis(200);
/// Nobody has taken a worker for so long: there is time to make others.
const QUIET: Duration = Duration::from_millis(2);

/// Workers that are ready to take a program. A thread of its own puts new ones there as they are taken.
///
/// A worker takes a millisecond or two to make; nobody should wait for that.
pub(crate) struct Shelf {
    ready: tokio::sync::Mutex<mpsc::Receiver<Result<Lease, ZygoteError>>>,
    bell: Arc<Bell>,
}

/// Rung when there is room for another worker. When nobody has it any more, the thread ends.
pub(crate) struct Bell {
    rope: io::PipeWriter,
    remains: Arc<Mutex<Vec<Remains>>>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        // A pipe that is full has been rung often enough.
        let _ = (&self.rope).write(&[1]);
    }

    /// Leaves a worker whose run is over to the thread, which also makes another.
    pub(crate) fn bury(&self, remains: Remains) {
        self.remains.lock().unwrap_or_else(PoisonError::into_inner).push(remains);
        self.ring();
    }
}

impl Shelf {
    /// Starts a zygote, and keeps `places` workers ready from then on.
    pub(crate) fn start(launch: Launch, settings: Settings, places: usize) -> Result<Shelf, ZygoteError> {
        let (ready, waiting) = mpsc::channel(places.max(1));
        let (heard, bell) = io::pipe()?;
        let remains = Arc::new(Mutex::default());
        let buried = Arc::clone(&remains);
        let (first, started) = std::sync::mpsc::channel();
        let work = move || {
            // The zygote dies with the thread that started it, so that is this one, which lives as long as the shelf.
            match Zygote::start(&launch, &settings) {
                Ok(zygote) => {
                    let _ = first.send(Ok(()));
                    Keeper { launch, settings, ready, heard, buried, zygote: Some(zygote) }.keep();
                }
                Err(error) => {
                    let _ = first.send(Err(error));
                }
            }
        };
        thread::Builder::new().name("isolith-shelf".into()).spawn(work)?;
        started.recv().map_err(|_| ZygoteError::Gone)??;
        Ok(Shelf { ready: tokio::sync::Mutex::new(waiting), bell: Arc::new(Bell { rope: bell, remains }) })
    }

    /// The next worker. Waits until there is one.
    ///
    /// To make another takes longer than a small run does and would only be in its way, so that is left until the run is over; unless
    /// there is nothing left for the next.
    pub(crate) async fn take(&self) -> Result<Lease, ZygoteError> {
        let mut ready = self.ready.lock().await;
        let taken = ready.recv().await.unwrap_or(Err(ZygoteError::Gone));
        match taken {
            Ok(lease) if !ready.is_empty() => Ok(lease.and_then_ring(Arc::clone(&self.bell))),
            taken => {
                self.bell.ring();
                taken
            }
        }
    }
}

/// The thread behind a shelf.
struct Keeper {
    launch: Launch,
    settings: Settings,
    ready: mpsc::Sender<Result<Lease, ZygoteError>>,
    heard: io::PipeReader,
    buried: Arc<Mutex<Vec<Remains>>>,
    zygote: Option<Zygote>,
}

impl Keeper {
    fn keep(mut self) {
        loop {
            // Taken out first: to end them takes longer than the lock should be held.
            let over = std::mem::take(&mut *self.buried.lock().unwrap_or_else(PoisonError::into_inner));
            drop(over);
            while self.ready.capacity() > 0 {
                let made = self.make();
                let failed = made.is_err();
                if self.ready.try_send(made).is_err() {
                    return;
                }
                if failed {
                    thread::sleep(PAUSE);
                }
            }
            // Until one is taken, the zygote dies, or nobody wants any more.
            let zygote = self.zygote.as_ref().map(Zygote::control);
            let (rung, dead) = os::either(self.heard.as_fd(), zygote);
            if dead {
                self.zygote = None;
            }
            if rung && !matches!((&self.heard).read(&mut [0; 64]), Ok(1..)) {
                return;
            }
            if !self.until_quiet() {
                return;
            }
        }
    }

    /// While more than half are there, whoever runs a program has better use for the processor than to make others. Whether somebody
    /// still wants any.
    fn until_quiet(&self) -> bool {
        while self.ready.capacity() * 2 < self.ready.max_capacity() && os::readable_within(&self.heard, QUIET) {
            if !matches!((&self.heard).read(&mut [0; 64]), Ok(1..)) {
                return false;
            }
        }
        true
    }

    /// One more worker, of a new zygote if need be.
    fn make(&mut self) -> Result<Lease, ZygoteError> {
        if let Some(zygote) = &self.zygote {
            match zygote.copy() {
                Err(error) if !error.leaves_zygote() => self.zygote = None,
                made => return made,
            }
        }
        self.zygote.insert(Zygote::start(&self.launch, &self.settings)?).copy()
    }
}

impl From<ZygoteError> for io::Error {
    fn from(error: ZygoteError) -> Self {
        io::Error::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::JailMode;
    use crate::worker::control::FAILED;

    /// What comes of a zygote that answers with these bytes, or not at all; and whether it is still there.
    fn answered(answer: Option<&str>) -> io::Result<(String, bool)> {
        let (control, theirs) = os::packet_pair()?;
        let (ready, _ready) = mpsc::channel(1);
        let (heard, _bell) = io::pipe()?;
        let mut keeper = Keeper {
            launch: Launch::new("/no/such/worker", &[]),
            settings: Settings { jail: JailMode::Off, inside: serde_json::Value::Null },
            ready,
            heard,
            buried: Arc::default(),
            zygote: Some(Zygote::forged(control)?),
        };
        match answer {
            Some(answer) => os::send(theirs.as_fd(), answer.as_bytes(), &[])?,
            None => drop(theirs),
        }
        let said = keeper.make().map_or_else(|error| error.to_string(), |_| "a worker".into());
        Ok((said, keeper.zygote.is_some()))
    }

    #[test]
    fn a_zygote_that_answers_is_kept_although_it_made_no_worker() -> io::Result<()> {
        let no_copy = format!("{FAILED}no more processes");
        let rows = [
            (Some(&*no_copy), "the zygote failed: no more processes", true),
            (Some("copy"), "there is no room for the descriptors of a worker", true),
            (None, "cannot start `/no/such/worker`", false),
        ];
        for (answer, said, kept) in rows {
            assert_eq!(answered(answer)?, (said.into(), kept), "{answer:?}");
        }
        Ok(())
    }
}
