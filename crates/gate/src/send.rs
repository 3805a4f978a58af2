//! Requests that are not the program's own: what brings its tools sends them, under grants of its own.

use crate::BodySource;
use crate::egress::{Fetched, Response, ResponseHead};
use crate::fetch::Admission;
use crate::gate::Gate;
use crate::ledger::lock;
use crate::secrets::Vault;
use isolith_core::{CallError, FetchCall, Grant};
use std::sync::{Arc, Mutex};

/// What one run keeps vaults for; each is for the grants of one who brings tools.
const VAULTS_MAX: usize = 64;
/// How much of a body is read at once.
const READ_BYTES_MAX: usize = 256 << 10;

/// What a server answered, all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Where it came from, its status and its headers.
    pub head: ResponseHead,
    /// Its body, no longer than the limit `egress_response`; empty when there is none.
    pub body: Vec<u8>,
}

/// The secrets of grants that are not the run's own, read once a run.
#[derive(Default)]
pub(crate) struct Vaults(Mutex<Vec<(Vec<Grant>, Arc<Vault>)>>);

impl Vaults {
    fn of(&self, grants: &[Grant], make: impl FnOnce() -> Vault) -> Arc<Vault> {
        let mut all = lock(&self.0);
        if let Some((_, vault)) = all.iter().find(|(known, _)| known == grants) {
            return Arc::clone(vault);
        }
        let vault = Arc::new(make());
        if all.len() < VAULTS_MAX {
            all.push((grants.to_vec(), Arc::clone(&vault)));
        }
        vault
    }
}

impl Gate {
    /// Sends one request under exactly these grants, and under none of the run's own: for who brings its tools.
    ///
    /// All else is as for a request of the program: each hop and each address is admitted, credentials are added and taken out
    /// again of what comes back, the limits of the run hold, and every hop is an audit row of the run.
    pub async fn send_for(&self, grants: Vec<Grant>, fetch: FetchCall) -> Result<Sent, CallError> {
        let vault = self.vaults.of(&grants, || Vault::new(&grants, self.means.secrets.clone()));
        let label = crate::fetch::shown(&fetch.method, &fetch.url);
        let admission = Admission::new(self, &grants, &vault);
        let Fetched { result, hops } = self.client().fetch(fetch, None, &admission).await;
        if let (Err(error), true) = (&result, hops.is_empty()) {
            self.unsent(label, error.clone());
        }
        let mut entries = admission.entries(hops);
        let Response { head, body, .. } = result?;
        // The last hop's entry stays open until the body is over.
        let body = match body {
            None => Ok(Vec::new()),
            Some(source) => whole(source).await,
        };
        if let Some(entry) = entries.last_mut() {
            match &body {
                Ok(body) => entry.bytes_in = body.len() as u64,
                Err(error) => entry.failed(error),
            }
        }
        Ok(Sent { head, body: body? })
    }
}

/// All of a body, which bounds itself.
async fn whole(mut source: Box<dyn BodySource>) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    loop {
        let bytes = source.read(READ_BYTES_MAX).await?;
        if bytes.is_empty() {
            return Ok(body);
        }
        body.extend(bytes);
    }
}
