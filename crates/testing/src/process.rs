//! What the system knows about this process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

const PAGE_BYTES: u64 = 4096;
/// How often memory is looked at while a peak is watched.
const LOOK: Duration = Duration::from_millis(2);

/// How much memory of this process is resident.
pub fn resident_bytes() -> io::Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.map(|pages| pages * PAGE_BYTES).ok_or_else(|| io::Error::other("/proc/self/statm has another form"))
}

/// How many files this process has open.
pub fn open_files() -> io::Result<usize> {
    // Looking opens one more, each time the same.
    Ok(std::fs::read_dir("/proc/self/fd")?.count())
}

/// Watches how much memory this process has at most, from [`Peak::watch`] to [`Peak::grown_bytes`].
pub struct Peak {
    before: u64,
    shared: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watched {
    most: AtomicU64,
    stop: AtomicBool,
}

impl Watched {
    fn look(&self) {
        self.most.fetch_max(resident_bytes().unwrap_or(0), SeqCst);
    }
}

impl Peak {
    /// Starts watching.
    pub fn watch() -> io::Result<Peak> {
        let shared = Arc::new(Watched::default());
        let before = resident_bytes()?;
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("peak".into()).spawn(move || {
            while !watched.stop.load(SeqCst) {
                watched.look();
                std::thread::sleep(LOOK);
            }
        })?;
        Ok(Peak { before, shared, thread: Some(thread) })
    }

    /// Stops watching and says by how much memory was larger at its largest than at the start.
    pub fn grown_bytes(mut self) -> u64 {
        self.stop();
        self.shared.look();
        self.shared.most.load(SeqCst).saturating_sub(self.before)
    }

    fn stop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_after_it_has_passed() -> io::Result<()> {
        const BYTES: usize = 64 << 20;
        let peak = Peak::watch()?;
        let block = vec![1u8; BYTES];
        std::thread::sleep(LOOK * 10);
        assert_eq!(std::hint::black_box(&block).len(), BYTES);
        drop(block);
        assert!(peak.grown_bytes() >= BYTES as u64 / 2);
        Ok(())
    }

    #[test]
    fn open_files_are_counted() -> io::Result<()> {
        // More than the tests beside this one could close in the meantime.
        const FILES: usize = 50;
        let before = open_files()?;
        let files = (0..FILES).map(|_| std::fs::File::open("/proc/self/statm")).collect::<io::Result<Vec<_>>>()?;
        assert!(open_files()? >= before + files.len() / 2);
        Ok(())
    }
}
