//! The WebSocket below a link: opened, read and written, each for a bounded time.

use crate::Address;
use crate::address::AddressError;
use crate::dial::dial;
use crate::engine::NAME;
use crate::link::{Link, Outgoing};
use crate::peer::Peer;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use isolith_core::wire::{Event, MESSAGE_BYTES_MAX, VERSION};
use isolith_core::{Digest, EngineError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long the other side may take to let us in, and to say who it is.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// The other side shows that it is there more often than this.
const QUIET_TIME: Duration = Duration::from_secs(70);
/// How long a message may take to be written, and how many bytes a second it takes at least.
const WRITE_TIME: Duration = Duration::from_secs(10);
const WRITE_BYTES_A_SECOND: usize = 256 << 10;
/// Messages that are written before any of them is shown to the other side.
const BATCH: usize = 64;
const READ_BUFFER_BYTES: usize = 16 << 10;
/// How much is shown of why we were not let in.
const REFUSAL_CHARS_MAX: usize = 300;

/// Why there is no connection to another isolith.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is wrong.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Nobody answers there, or not as an isolith does.
    #[error("cannot connect to {address}: {why}")]
    Failed {
        /// Where.
        address: String,
        /// Why.
        why: String,
    },
    /// It does not let us in.
    #[error("{address} refused with status {status}: {why}")]
    Refused {
        /// Where.
        address: String,
        /// As HTTP says it.
        status: u16,
        /// As it says itself.
        why: String,
    },
    /// It speaks another version.
    #[error("the isolith there speaks version {found}, this one version {VERSION}")]
    Version {
        /// Which.
        found: u64,
    },
}

impl From<ConnectError> for EngineError {
    fn from(error: ConnectError) -> EngineError {
        EngineError::Internal { doing: "connecting to another isolith", source: error.into() }
    }
}

/// Opens a connection. It is carried by a task of the runtime that this is called in, until nobody needs it.
pub(crate) async fn open(address: &Address) -> Result<Arc<Link>, ConnectError> {
    let failed = |why: String| ConnectError::Failed { address: address.shown(), why };
    let late = |_| failed("it took too long to answer".into());
    let stream = dial(address).await.map_err(|error| failed(error.to_string()))?;
    let url = format!("ws://{}{}", address.authority(), address.path());
    let mut request = url.into_client_request().map_err(|error| failed(error.to_string()))?;
    if let Some(text) = address.authorization() {
        let mut value = HeaderValue::from_str(text).map_err(|_| AddressError::Key)?;
        value.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, value);
    }
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let opened = client_async_with_config(request, stream, Some(config));
    let (mut socket, _) = match tokio::time::timeout(HELLO_TIME, opened).await.map_err(late)? {
        Ok(opened) => opened,
        Err(Error::Http(response)) => {
            let (status, body) = (response.status().as_u16(), response.body().as_deref().unwrap_or_default());
            return Err(ConnectError::Refused { address: address.shown(), status, why: shown(body) });
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    let image = match tokio::time::timeout(HELLO_TIME, hello(&mut socket)).await.map_err(late)? {
        Some((VERSION, image)) => image,
        Some((found, _)) => return Err(ConnectError::Version { found }),
        None => return Err(failed("it does not say what it is".into())),
    };
    let (sender, outgoing) = unbounded_channel();
    let peer = Arc::new(Peer::default());
    let link = Link::new(Arc::clone(&peer), image, sender);
    tokio::spawn(carry(socket, peer, outgoing));
    Ok(Arc::new(link))
}

async fn hello<S>(socket: &mut WebSocketStream<S>) -> Option<(u64, Digest)>
where
    WebSocketStream<S>: Stream<Item = Result<Message, Error>> + Unpin,
{
    loop {
        match socket.next().await?.ok()? {
            Message::Binary(bytes) => match Event::read(&bytes, NAME).ok()? {
                (_, Event::Hello { version, image }) => return Some((version, image)),
                _ => return None,
            },
            Message::Ping(_) | Message::Pong(_) => {}
            _ => return None,
        }
    }
}

/// Reads and writes side by side: neither side ever waits for the other to read before it reads itself.
async fn carry<S>(socket: WebSocketStream<S>, peer: Arc<Peer>, outgoing: UnboundedReceiver<Outgoing>)
where
    WebSocketStream<S>: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Unpin,
{
    let (mut writer, mut reader) = socket.split();
    let why = tokio::select! {
        why = read(&mut reader, &peer) => why,
        why = write(&mut writer, outgoing) => why,
    };
    peer.lose(why);
    let _ = tokio::time::timeout(WRITE_TIME, writer.close()).await;
}

async fn read(reader: &mut (impl Stream<Item = Result<Message, Error>> + Unpin), peer: &Peer) -> &'static str {
    loop {
        let Ok(message) = tokio::time::timeout(QUIET_TIME, reader.next()).await else {
            return "the other side is not heard of any more";
        };
        match message {
            Some(Ok(Message::Binary(bytes))) => {
                let heard = Event::read(&bytes, NAME).and_then(|(isolate, event)| peer.hear(isolate, event));
                if heard.is_err() {
                    return "the other side does not keep to the protocol";
                }
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_)) | Err(Error::ConnectionClosed)) | None => return "the connection was closed",
            Some(Ok(Message::Text(_) | Message::Frame(_)) | Err(Error::Capacity(_) | Error::Protocol(_))) => {
                return "the other side does not keep to the protocol";
            }
            Some(Err(_)) => return "the connection is lost",
        }
    }
}

async fn write(
    writer: &mut (impl Sink<Message, Error = Error> + Unpin),
    mut outgoing: UnboundedReceiver<Outgoing>,
) -> &'static str {
    while let Some(first) = outgoing.recv().await {
        let (mut next, mut batch) = (Some(first), 0);
        while let Some(out) = next {
            let time = WRITE_TIME + Duration::from_secs((out.message.len() / WRITE_BYTES_A_SECOND) as u64);
            let message = Message::Binary(out.message.into());
            if !matches!(tokio::time::timeout(time, writer.feed(message)).await, Ok(Ok(()))) {
                return "the other side does not read";
            }
            batch += 1;
            next = if batch < BATCH { outgoing.try_recv().ok() } else { None };
        }
        if !matches!(tokio::time::timeout(WRITE_TIME, writer.flush()).await, Ok(Ok(()))) {
            return "the other side does not read";
        }
    }
    "nobody needs the connection any more"
}

/// What a server says of its refusal, as far as it can be shown: the message of its JSON, or its text.
fn shown(body: &[u8]) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| json["error"]["message"].as_str()).map(str::to_owned);
    let text = message.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    text.chars().filter(|c| !c.is_control()).take(REFUSAL_CHARS_MAX).collect()
}
