use super::{Failed, Until, WorkflowHost, nonsense, turn_aside};
use crate::event::now_ms;
use crate::fault::Fault;
use isolith_core::{CallId, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Waited {
    signal: String,
    /// In milliseconds since 1970, so that it is the same moment after a restart.
    #[serde(default)]
    until_ms: Option<u64>,
}

impl WorkflowHost {
    /// Waits for the next signal of a name. Which one that is follows from what is on record, so that none is lost or heard twice.
    pub(super) async fn wait(&self, id: CallId, args: &Json, until: Until) -> Result<Value, Failed> {
        let Waited { signal, until_ms } = args.parse().map_err(|error| nonsense(&error))?;
        turn_aside().await;
        self.waiting().insert(id);
        let late = async {
            match until_ms {
                Some(until) => tokio::time::sleep(Duration::from_millis(until.saturating_sub(now_ms()))).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stopped(until) => Err(Fault::stopped().into()),
            value = self.next_signal(&signal) => Ok(json!({ "value": value })),
            () = late => Ok(json!({ "timedOut": true })),
        }
    }

    async fn next_signal(&self, name: &str) -> Json {
        // Whoever waits first is served first.
        let queue = Arc::clone(self.queues().entry(name.to_owned()).or_default());
        let _turn = queue.lock().await;
        let taken = self.tally().signals.get(name).copied().unwrap_or_default();
        let value = self.means.mail.signal(name, taken).await;
        *self.tally().signals.entry(name.to_owned()).or_default() += 1;
        value
    }
}

/// A number that is on record from here on.
pub(super) fn random() -> Result<Value, Failed> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|_| Fault::of_run("the system gives no randomness"))?;
    // As many bits as a number of the language holds.
    Ok(json!((u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64))
}
