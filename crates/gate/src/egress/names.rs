use super::{Net, error};
use isolith_core::CallError;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use url::Host;

/// How long a name keeps the addresses it was found to have.
const PINNED: Duration = Duration::from_secs(60);
/// How long a lookup may take.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The names one run has looked up. Each is looked up once and keeps its addresses, so that a name cannot have one address
/// when it is checked and another when it is dialled.
#[derive(Default)]
pub(super) struct Names {
    known: Mutex<HashMap<String, Arc<Name>>>,
}

/// Whoever looks a name up holds this, and others wait for the result instead of asking too.
type Name = tokio::sync::Mutex<Option<Pinned>>;

struct Pinned {
    addresses: Arc<[IpAddr]>,
    at: Instant,
}

impl Names {
    /// The addresses of a host, at least one. The request to it was admitted: a name is itself something to tell a stranger.
    pub(super) async fn addresses(&self, net: &Net, host: &Host) -> Result<Arc<[IpAddr]>, CallError> {
        let name = match host {
            Host::Ipv4(address) => return Ok(Arc::new([IpAddr::V4(*address)])),
            Host::Ipv6(address) => return Ok(Arc::new([IpAddr::V6(*address)])),
            Host::Domain(name) => name,
        };
        // This machine is never somebody else's to define.
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(Arc::new([Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]));
        }
        // On its own: looking a name up takes far more room than knowing an address.
        Box::pin(self.look_up(net, name)).await
    }

    async fn look_up(&self, net: &Net, name: &str) -> Result<Arc<[IpAddr]>, CallError> {
        let known =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default().clone();
        let mut pinned = known.lock().await;
        if let Some(pinned) = pinned.as_ref().filter(|pinned| pinned.at.elapsed() < PINNED) {
            return Ok(pinned.addresses.clone());
        }
        let late = |_| error::network("egress.timeout", format!("looking up `{name}` took too long"));
        let mut found = timeout(RESOLVE_TIMEOUT, net.resolve(name)).await.map_err(late)??;
        let mut seen = std::collections::HashSet::new();
        found.retain(|address| seen.insert(*address));
        if found.is_empty() {
            return Err(error::network("egress.dns", format!("`{name}` has no address")));
        }
        let addresses: Arc<[IpAddr]> = found.into();
        *pinned = Some(Pinned { addresses: addresses.clone(), at: Instant::now() });
        Ok(addresses)
    }
}
