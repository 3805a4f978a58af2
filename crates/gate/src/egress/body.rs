use super::decode::Reader;
use super::error;
use crate::{BodySource, RedactStream};
use hyper::body::Bytes;
use isolith_core::{BoxFuture, CallError};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How long a body that is waited for may be silent.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a response may take, from its head to its end.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How much is taken at once.
const READ_BYTES_MAX: usize = 64 << 10;

/// The body of a response: decompressed, counted, and without secrets.
pub(super) struct ResponseBody {
    pub(super) reader: Reader,
    /// Where it comes from, for messages.
    pub(super) host: String,
    /// How many bytes there may be, and how many there were.
    pub(super) limit: u64,
    pub(super) received: u64,
    /// Each takes out secrets of one hop.
    pub(super) redacting: Vec<RedactStream>,
    /// What decompressing needs, where there is something to decompress.
    pub(super) decoders: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
    ready: Bytes,
    over: bool,
    failed: Option<CallError>,
    deadline: Instant,
}

impl ResponseBody {
    pub(super) fn new(reader: Reader, host: String, limit: u64) -> ResponseBody {
        ResponseBody {
            reader,
            host,
            limit,
            received: 0,
            redacting: Vec::new(),
            decoders: None,
            permit: None,
            ready: Bytes::new(),
            over: false,
            failed: None,
            deadline: Instant::now() + RESPONSE_TIMEOUT,
        }
    }

    async fn next(&mut self, most: usize) -> Result<Vec<u8>, CallError> {
        loop {
            if !self.ready.is_empty() {
                let amount = self.ready.len().min(most.max(1));
                return Ok(self.ready.split_to(amount).into());
            }
            if self.over {
                return Ok(Vec::new());
            }
            let bytes = self.pull(most.clamp(1, READ_BYTES_MAX)).await?;
            self.over = bytes.is_empty();
            if self.over {
                // The memory and the connection go back at once, whenever the guest lets go of the body.
                self.reader = Box::new(tokio::io::empty());
                self.permit = None;
            }
            self.ready = self.redact(bytes).into();
        }
    }

    async fn pull(&mut self, most: usize) -> Result<Vec<u8>, CallError> {
        // THREAT[T-EGRESS-011]: a server sends a byte now and then, or none; both waits are bounded.
        let until = self.deadline.min(Instant::now() + IDLE_TIMEOUT);
        let late =
            || error::network("egress.timeout", format!("the rest of the response from {} did not come", self.host));
        if let Some(decoders) = &self.decoders {
            // THREAT[T-EGRESS-007]: each stream that is decompressed takes megabytes; only so many are at a time.
            let busy = "too many compressed responses are being read: read some of them to their end, or cancel them";
            let busy = |_| error::network("egress.limit", busy);
            let permit = timeout_at(until, decoders.clone().acquire_owned()).await.map_err(busy)?;
            self.permit = permit.ok();
            self.decoders = None;
        }
        let mut buffer = Vec::with_capacity(most);
        let read = timeout_at(until, self.reader.read_buf(&mut buffer)).await.map_err(|_| late())?;
        let amount = read.map_err(|error| self.broken(&error))?;
        self.received += amount as u64;
        // THREAT[T-EGRESS-007]: a body without end, or one that is small on the wire and huge behind it, is cut as it comes.
        if self.received > self.limit {
            return Err(too_large(&self.host, self.limit));
        }
        Ok(buffer)
    }

    // THREAT[T-SECRET-005]: the server repeats the secret that it was sent.
    fn redact(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let over = self.over;
        self.redacting.iter_mut().fold(bytes, |bytes, stream| {
            let mut out = stream.push(&bytes);
            if over {
                out.extend(stream.finish());
            }
            out
        })
    }

    fn broken(&self, error: &io::Error) -> CallError {
        match error.get_ref().and_then(|cause| cause.downcast_ref::<hyper::Error>()) {
            Some(error) => error::http(&self.host, error),
            None => {
                let message = format!("the response from {} is not compressed as it says: {error}", self.host);
                error::network("egress.protocol", message)
            }
        }
    }
}

/// The error of a response that is larger than it may be.
pub(super) fn too_large(host: &str, limit: u64) -> CallError {
    let message = format!("the response from {host} has more than {limit} bytes, which is the limit `egress_response`");
    error::network("egress.response_too_large", message)
}

impl BodySource for ResponseBody {
    fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>> {
        Box::pin(async move {
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            let read = self.next(most).await;
            if let Err(error) = &read {
                // What was held back may be the half of a secret: it goes too, and so does the connection.
                self.failed = Some(error.clone());
                self.reader = Box::new(tokio::io::empty());
                self.redacting = Vec::new();
                self.permit = None;
            }
            read
        })
    }
}
