use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use wasmtime::Engine;

/// How often a computing guest is looked at: also the longest it keeps a thread to itself.
pub(crate) const SLICE: Duration = Duration::from_millis(1);
/// Ticks without work before the ticker goes to sleep. Waking it costs a system call, which a busy engine never pays.
const IDLE_TICKS: u32 = 200;

/// Advances the engine's epoch while guests compute, and sleeps otherwise.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    computing: AtomicU32,
    asleep: AtomicBool,
    stop: AtomicBool,
    gate: Mutex<()>,
    wake: Condvar,
}

impl Ticker {
    pub(crate) fn start(engine: Engine) -> std::io::Result<Ticker> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("isolith-ticker".into()).spawn(move || theirs.run(&engine))?;
        Ok(Ticker { shared, thread: Some(thread) })
    }

    /// Says that a guest computes for as long as the guard lives.
    pub(crate) fn computing(&self) -> Computing<'_> {
        self.shared.computing.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            let _gate = self.shared.lock();
            self.shared.wake.notify_one();
        }
        Computing(&self.shared)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, engine: &Engine) {
        let mut idle = 0;
        while !self.stop.load(Ordering::SeqCst) {
            std::thread::sleep(SLICE);
            engine.increment_epoch();
            idle = if self.computing.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
            if idle >= IDLE_TICKS {
                let mut gate = self.lock();
                self.asleep.store(true, Ordering::SeqCst);
                // Looked at again behind the flag: whoever starts from here on sees it and wakes us.
                while self.computing.load(Ordering::SeqCst) == 0 && !self.stop.load(Ordering::SeqCst) {
                    gate = self.wake.wait(gate).unwrap_or_else(PoisonError::into_inner);
                }
                self.asleep.store(false, Ordering::SeqCst);
                idle = 0;
            }
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        {
            let _gate = self.shared.lock();
            self.shared.wake.notify_one();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) struct Computing<'a>(&'a Shared);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.computing.fetch_sub(1, Ordering::SeqCst);
    }
}
