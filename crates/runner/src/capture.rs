use isolith_core::{Output, OutputSink, Stream, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps what a run writes, and passes it on as it comes.
pub(crate) struct Capture {
    started: Timestamp,
    outputs: Mutex<Vec<Output>>,
    next: Arc<dyn OutputSink>,
}

impl Capture {
    pub(crate) fn new(started: Timestamp, earlier: Vec<Output>, next: Arc<dyn OutputSink>) -> Capture {
        Capture { started, outputs: Mutex::new(earlier), next }
    }

    pub(crate) fn take(&self) -> Vec<Output> {
        std::mem::take(&mut *self.outputs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputSink for Capture {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        self.next.write(stream, text.clone(), at);
        let at_ms = at.since(self.started).as_millis() as u64;
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner).push(Output { stream, text, at_ms });
    }
}
