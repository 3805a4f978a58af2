use super::lease::Lease;
use super::zygote::{Zygote, ZygoteError};
use crate::engine::Launch;
use crate::worker::Settings;
use std::io;
use std::thread;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};

/// How long to wait before another zygote is tried after one that failed.
const PAUSE: Duration = Duration::from_millis(200);

/// Workers that are ready to take a program. A thread of its own puts new ones there as they are taken.
///
/// A worker takes a millisecond or two to make; nobody should wait for that.
pub(crate) struct Shelf {
    ready: Mutex<mpsc::Receiver<Result<Lease, ZygoteError>>>,
}

impl Shelf {
    /// Starts a zygote, waits for its first worker, and keeps `places` ready from then on.
    pub(crate) fn start(launch: Launch, settings: Settings, places: usize) -> Result<Shelf, ZygoteError> {
        let (ready, waiting) = mpsc::channel(places.max(1));
        let (first, started) = std::sync::mpsc::channel();
        let fill = move || {
            // The zygote dies with the thread that started it, so that is this one, which lives as long as the shelf.
            let mut zygote = Zygote::start(&launch, &settings);
            let _ = first.send(zygote.as_ref().map(|_| ()).map_err(|error| error.to_string()));
            loop {
                let made = match &zygote {
                    Ok(zygote) => zygote.copy(),
                    Err(_) => Err(ZygoteError::Gone),
                };
                let failed = made.is_err();
                if failed {
                    thread::sleep(PAUSE);
                    zygote = Zygote::start(&launch, &settings);
                }
                let made = match (made, &mut zygote) {
                    (Ok(lease), _) => Ok(lease),
                    // One more try with the new one, before anybody hears of it.
                    (Err(_), Ok(zygote)) => zygote.copy(),
                    (Err(error), Err(_)) => Err(error),
                };
                if ready.blocking_send(made).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("isolith-v8".into()).spawn(fill)?;
        let lost = |_| ZygoteError::Gone;
        started.recv().map_err(lost)?.map_err(ZygoteError::Failed)?;
        Ok(Shelf { ready: Mutex::new(waiting) })
    }

    /// The next worker. Waits until there is one.
    pub(crate) async fn take(&self) -> Result<Lease, ZygoteError> {
        self.ready.lock().await.recv().await.unwrap_or(Err(ZygoteError::Gone))
    }
}

impl From<ZygoteError> for io::Error {
    fn from(error: ZygoteError) -> Self {
        io::Error::other(error)
    }
}
