use isolith_core::{Host, Output, OutputSink, Stream, Timestamp};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps what a run writes, and passes it on as it comes.
pub(crate) struct Capture {
    started: Timestamp,
    outputs: Mutex<Vec<Output>>,
    next: Arc<dyn OutputSink>,
    host: Arc<dyn Host>,
}

impl Capture {
    pub(crate) fn new(
        started: Timestamp,
        earlier: Vec<Output>,
        next: Arc<dyn OutputSink>,
        host: Arc<dyn Host>,
    ) -> Capture {
        Capture { started, outputs: Mutex::new(earlier), next, host }
    }

    pub(crate) fn take(&self) -> Vec<Output> {
        std::mem::take(&mut *self.outputs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputSink for Capture {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        let text = match self.host.scrub(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(scrubbed) => scrubbed,
        };
        self.next.write(stream, text.clone(), at);
        let at_ms = at.since(self.started).as_millis() as u64;
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner).push(Output { stream, text, at_ms });
    }
}
