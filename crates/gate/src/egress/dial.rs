//! Getting a connection to one of the addresses that were checked.

use super::proxy::Proxy;
use super::{Net, error};
use isolith_core::{CallError, Target};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// How long it may take to reach a server, all its addresses together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long an address may take when there are others.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(4);
/// How many addresses are tried.
const ATTEMPTS_MAX: usize = 6;

/// Connects to the first of these addresses that answers, and says which one it was.
// THREAT[T-EGRESS-003]: the name has another address by now; what is dialled is what was checked, never the name.
pub(super) async fn dial(net: &Net, target: &Target, addresses: &[IpAddr]) -> Result<(TcpStream, IpAddr), CallError> {
    let place = format!("{}:{}", target.host(), target.port());
    let deadline = Instant::now() + CONNECT_TIMEOUT;
    let proxy = net.proxies.of(target);
    let tried = &addresses[..addresses.len().min(ATTEMPTS_MAX)];
    let mut last = error::network("egress.connect", format!("cannot connect to {place}"));
    for (at, address) in tried.iter().enumerate() {
        let until = if at + 1 == tried.len() { deadline } else { deadline.min(Instant::now() + ATTEMPT_TIMEOUT) };
        let address = SocketAddr::new(*address, target.port());
        last = match timeout_at(until, attempt(net, proxy, address, &place)).await {
            Ok(Ok(stream)) => return Ok((stream, address.ip())),
            Ok(Err(error)) => error,
            Err(_) => error::network("egress.timeout", format!("connecting to {place} took too long")),
        };
    }
    Err(last)
}

async fn attempt(net: &Net, proxy: Option<&Proxy>, address: SocketAddr, place: &str) -> Result<TcpStream, CallError> {
    let Some(proxy) = proxy else {
        let failed = |error| error::network("egress.connect", format!("cannot connect to {place}: {error}"));
        return net.dial(address).await.map_err(failed);
    };
    let failed = |error| error::network("egress.connect", format!("cannot connect to the proxy: {error}"));
    let host = match proxy.literal() {
        Some(host) => host,
        // The proxy is the operator's own: its address is nobody's to check.
        None => {
            let found = net.resolve(&proxy.host.to_string()).await?;
            found.into_iter().next().ok_or_else(|| error::network("egress.dns", "the proxy has no address"))?
        }
    };
    let mut stream = net.dial(SocketAddr::new(host, proxy.port)).await.map_err(failed)?;
    proxy.tunnel(&mut stream, address).await?;
    Ok(stream)
}
