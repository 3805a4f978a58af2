//! What a program writes, told while it runs, to a client that wants to know.

use crate::run::{Event, Listener, Run};
use isolith_core::RunId;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Lines that wait to be told. Beyond that they are left out: the result has them all.
const LINES_MAX: usize = 64;
/// A line is told up to this.
const LINE_CHARS_MAX: usize = 500;

pub(super) struct Progress {
    token: ProgressToken,
    sender: mpsc::Sender<String>,
    lines: mpsc::Receiver<String>,
}

impl Progress {
    /// Nothing when nobody wants to know.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Progress> {
        let token = context.meta.get_progress_token()?;
        let (sender, lines) = mpsc::channel(LINES_MAX);
        Some(Progress { token, sender, lines })
    }

    /// Hears a run for as long as what is given back is there.
    pub(super) fn hear(&self, run: &Arc<Run>) -> Hearing {
        let number = run.listen(Arc::new(Lines(self.sender.clone())));
        Hearing { run: Arc::clone(run), number }
    }

    /// Tells one line after the other, for as long as there can be more.
    pub(super) async fn tell(mut self, peer: &Peer<RoleServer>) {
        drop(self.sender);
        let mut count = 0.0;
        while let Some(line) = self.lines.recv().await {
            count += 1.0;
            let params = ProgressNotificationParam::new(self.token.clone(), count).with_message(line);
            if peer.notify_progress(params).await.is_err() {
                return;
            }
        }
    }
}

/// Someone listens to a run.
pub(super) struct Hearing {
    run: Arc<Run>,
    number: u64,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.run.unlisten(self.number);
    }
}

struct Lines(mpsc::Sender<String>);

impl Listener for Lines {
    fn hear(&self, _: &RunId, event: &Event<'_>) {
        if let Event::Output { text, .. } = event {
            let _ = self.0.try_send(text.chars().take(LINE_CHARS_MAX).collect());
        }
    }
}
