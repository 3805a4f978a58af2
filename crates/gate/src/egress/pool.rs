use super::connection::{Link, Tasks, connect};
use super::{Net, error};
use isolith_core::{CallError, Target};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_rustls::rustls::ClientConfig;

/// How many connections one run may have. More than the requests it has by default, so that a program that asks for
/// everything first and reads later does not wait for itself.
const CONNECTIONS_MAX: usize = 128;
/// How long a request waits for one of them.
const ROOM_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it looks whether one is idle meanwhile.
const ROOM_INTERVAL: Duration = Duration::from_millis(50);
/// How long a connection is kept for the next request.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The connections of one run. They are shared with no other, and end with it.
pub(super) struct Pool {
    origins: Mutex<HashMap<Origin, Kept>>,
    room: Arc<Semaphore>,
    tasks: Arc<Tasks>,
}

/// Connections are for one scheme, host and port.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Origin {
    https: bool,
    host: String,
    port: u16,
}

/// What is known about an origin.
struct Kept {
    links: Vec<Idle>,
    /// Whether it takes one request at a time on a connection; unknown before the first.
    one_at_a_time: Option<bool>,
    /// Held by who dials while that is unknown, so that one connection is made and shared if it can be.
    dialling: Arc<Semaphore>,
}

struct Idle {
    link: Link,
    peer: IpAddr,
    since: Instant,
}

/// A connection for one request.
pub(super) struct Taken {
    pub(super) link: Link,
    peer: IpAddr,
    /// Whether it has carried requests before.
    pub(super) used: bool,
}

impl Pool {
    pub(super) fn new() -> Pool {
        Pool { origins: Mutex::default(), room: Arc::new(Semaphore::new(CONNECTIONS_MAX)), tasks: Arc::default() }
    }

    /// A connection to one of these addresses, which were checked for this very request.
    pub(super) async fn take(
        &self,
        net: &Net,
        tls: Option<Arc<ClientConfig>>,
        target: &Target,
        addresses: &[IpAddr],
    ) -> Result<Taken, CallError> {
        let origin = Origin::of(target);
        if let Some(taken) = self.idle(&origin, addresses) {
            return Ok(taken);
        }
        // On its own: most requests find a connection, and would make room for all that making one takes.
        Box::pin(self.make(origin, net, tls, target, addresses)).await
    }

    async fn make(
        &self,
        origin: Origin,
        net: &Net,
        tls: Option<Arc<ClientConfig>>,
        target: &Target,
        addresses: &[IpAddr],
    ) -> Result<Taken, CallError> {
        let unknown = {
            let mut origins = self.lock();
            let kept = origins.entry(origin.clone()).or_default();
            (tls.is_some() && kept.one_at_a_time != Some(true)).then(|| kept.dialling.clone())
        };
        // Nothing closes this semaphore; and if something did, a connection could be dialled without it.
        let _dialling = match unknown {
            Some(dialling) => dialling.acquire_owned().await.ok(),
            None => None,
        };
        let permit = match self.idle_or_room(&origin, addresses).await? {
            Ok(taken) => return Ok(taken),
            Err(permit) => permit,
        };
        let (link, peer) = connect(net, tls, &self.tasks, target, addresses, permit).await?;
        let one_at_a_time = matches!(link, Link::One(_));
        self.lock().entry(origin.clone()).or_default().one_at_a_time = Some(one_at_a_time);
        let taken = Taken { link, peer, used: false };
        if let Some(shared) = taken.shared() {
            self.keep(&origin, shared);
        }
        Ok(taken)
    }

    /// Keeps a connection for later. It is taken again when it is ready, which is when its response has been read.
    pub(super) fn put(&self, target: &Target, taken: Taken) {
        // Those that are shared were never away.
        if matches!(taken.link, Link::One(_)) {
            self.keep(&Origin::of(target), taken);
        }
    }

    fn keep(&self, origin: &Origin, Taken { link, peer, .. }: Taken) {
        let idle = Idle { link, peer, since: Instant::now() };
        self.lock().entry(origin.clone()).or_default().links.push(idle);
    }

    async fn idle_or_room(
        &self,
        origin: &Origin,
        addresses: &[IpAddr],
    ) -> Result<Result<Taken, OwnedSemaphorePermit>, CallError> {
        let deadline = Instant::now() + ROOM_TIMEOUT;
        loop {
            if let Some(taken) = self.idle(origin, addresses) {
                return Ok(Ok(taken));
            }
            if let Ok(permit) = self.room.clone().try_acquire_owned() {
                return Ok(Err(permit));
            }
            // THREAT[T-EGRESS-008]: a program opens connections and leaves them; their number is bounded, and idle ones go first.
            self.close_one();
            if let Ok(Ok(permit)) = timeout(ROOM_INTERVAL, self.room.clone().acquire_owned()).await {
                return Ok(Err(permit));
            }
            if Instant::now() > deadline {
                let message = format!(
                    "{CONNECTIONS_MAX} connections are open: read the bodies of earlier responses to their end, or cancel them"
                );
                return Err(error::network("egress.limit", message));
            }
        }
    }

    /// A connection that is there already.
    // THREAT[T-EGRESS-004]: a kept connection leads to an address the name no longer has, or that this request may not go to.
    fn idle(&self, origin: &Origin, addresses: &[IpAddr]) -> Option<Taken> {
        let mut origins = self.lock();
        let links = &mut origins.get_mut(origin)?.links;
        links.retain(|idle| !idle.link.is_closed() && idle.since.elapsed() < IDLE_MAX);
        let at = links.iter().position(|idle| idle.link.is_ready() && addresses.contains(&idle.peer))?;
        let Idle { link, peer, since } = links.swap_remove(at);
        let taken = Taken { link, peer, used: true };
        if let Some(Taken { link, peer, .. }) = taken.shared() {
            links.push(Idle { link, peer, since });
        }
        Some(taken)
    }

    /// Closes the connection that has been idle for longest, if one is.
    fn close_one(&self) {
        let mut origins = self.lock();
        let ready = |links: &Vec<Idle>| {
            let ready = links.iter().enumerate().filter(|(_, idle)| idle.link.is_ready());
            ready.min_by_key(|(_, idle)| idle.since).map(|(at, idle)| (idle.since, at))
        };
        let oldest =
            origins.values_mut().filter_map(|kept| Some((ready(&kept.links)?, kept))).min_by_key(|(at, _)| *at);
        if let Some(((_, at), kept)) = oldest {
            kept.links.swap_remove(at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, Kept>> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Another handle to the same connection, where several requests can use it.
    fn shared(&self) -> Option<Taken> {
        match &self.link {
            Link::One(_) => None,
            Link::Many(sender) => Some(Taken { link: Link::Many(sender.clone()), peer: self.peer, used: true }),
        }
    }
}

impl Origin {
    fn of(target: &Target) -> Origin {
        Origin { https: target.is_https(), host: target.host_text().to_owned(), port: target.port() }
    }
}

impl Default for Kept {
    fn default() -> Self {
        Kept { links: Vec::new(), one_at_a_time: None, dialling: Arc::new(Semaphore::new(1)) }
    }
}
