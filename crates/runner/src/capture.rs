use isolith_core::{Host, Output, OutputSink, Stream, Timestamp};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps what a run writes, and passes it on as it comes.
pub(crate) struct Capture {
    started: Timestamp,
    outputs: Mutex<Vec<Output>>,
    next: Arc<dyn OutputSink>,
    host: Arc<dyn Host>,
    scrubbed: AtomicBool,
}

impl Capture {
    pub(crate) fn new(
        started: Timestamp,
        earlier: Vec<Output>,
        next: Arc<dyn OutputSink>,
        host: Arc<dyn Host>,
    ) -> Capture {
        Capture { started, outputs: Mutex::new(earlier), next, host, scrubbed: AtomicBool::new(false) }
    }

    pub(crate) fn take(&self) -> Vec<Output> {
        std::mem::take(&mut *self.outputs())
    }

    /// What was written after the first so many.
    pub(crate) fn outputs_from(&self, first: usize) -> Vec<Output> {
        self.outputs().get(first..).unwrap_or_default().to_vec()
    }

    /// Whether something was taken out of what the program wrote.
    pub(crate) fn was_scrubbed(&self) -> bool {
        self.scrubbed.load(Ordering::Relaxed)
    }

    fn outputs(&self) -> MutexGuard<'_, Vec<Output>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputSink for Capture {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        let text = match self.host.scrub(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(scrubbed) => {
                self.scrubbed.store(true, Ordering::Relaxed);
                scrubbed
            }
        };
        self.next.write(stream, text.clone(), at);
        let at_ms = at.since(self.started).as_millis() as u64;
        self.outputs().push(Output { stream, text, at_ms });
    }
}
