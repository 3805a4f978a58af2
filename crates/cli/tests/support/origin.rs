//! A server on loopback that keeps every byte that reached it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A head or a body that is longer than this is cut off: no test sends one.
const REQUEST_BYTES_MAX: usize = 16 << 20;
/// A fixture does not wait longer than this for a client that says nothing.
const READ_PATIENCE: Duration = Duration::from_secs(60);

/// One request, as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Everything, head and body, byte by byte.
    pub raw: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A parameter of the query, decoded.
    pub fn query(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?')?.1;
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(unescape(value))
    }
}

/// `%41` and `+` as what they stand for.
fn unescape(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let escaped = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The connection that an answer is written to.
pub trait Wire: Read + Write + Send {
    /// Closes with a reset instead of an end.
    fn reset(&mut self);
}

impl Wire for TcpStream {
    fn reset(&mut self) {
        let _ = rustix::net::sockopt::set_socket_linger(&*self, Some(Duration::ZERO));
    }
}

impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn reset(&mut self) {
        self.sock.reset();
    }
}

/// Whether the connection can take another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Keep,
    Close,
}

type Answer = dyn Fn(&Request, &mut dyn Wire) -> io::Result<Next> + Send + Sync;

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    open: AtomicUsize,
    requests: Mutex<Vec<Request>>,
    /// Bytes that came and were no whole request.
    scraps: Mutex<Vec<u8>>,
    over: AtomicBool,
}

/// A running server, which ends with this value.
pub struct Origin {
    addresses: Vec<SocketAddr>,
    seen: Arc<Seen>,
}

impl Origin {
    /// Speaks HTTP/1.1 on IPv4.
    pub fn plain(answer: impl Fn(&Request, &mut dyn Wire) -> io::Result<Next> + Send + Sync + 'static) -> Origin {
        Origin::on(vec![listener()], None, Arc::new(answer))
    }

    /// The same on 127.0.0.1 and on ::1, at one port.
    pub fn both_families(
        answer: impl Fn(&Request, &mut dyn Wire) -> io::Result<Next> + Send + Sync + 'static,
    ) -> Origin {
        const TRIES: usize = 20;
        let pair = || {
            let v4 = listener();
            let v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, v4.local_addr().ok()?.port())).ok()?;
            Some(vec![v4, v6])
        };
        // A machine without IPv6 has nothing at ::1 that could be reached.
        let listeners = (0..TRIES).find_map(|_| pair()).unwrap_or_else(|| vec![listener()]);
        Origin::on(listeners, None, Arc::new(answer))
    }

    /// Speaks HTTP/1.1 over TLS.
    pub fn tls(
        config: Arc<ServerConfig>,
        answer: impl Fn(&Request, &mut dyn Wire) -> io::Result<Next> + Send + Sync + 'static,
    ) -> Origin {
        Origin::on(vec![listener()], Some(config), Arc::new(answer))
    }

    fn on(listeners: Vec<TcpListener>, tls: Option<Arc<ServerConfig>>, answer: Arc<Answer>) -> Origin {
        let addresses = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
        let seen = Arc::new(Seen::default());
        for listener in listeners {
            let (seen, tls, answer) = (Arc::clone(&seen), tls.clone(), Arc::clone(&answer));
            thread::spawn(move || accept(&listener, &seen, tls.as_ref(), &answer));
        }
        Origin { addresses, seen }
    }

    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// How often anyone connected.
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// How many connections are open once they have had time to close.
    pub fn open_after(&self, patience: Duration) -> usize {
        let until = Instant::now() + patience;
        while self.seen.open.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        self.seen.open.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Everything that came, whole requests or not.
    pub fn raw(&self) -> Vec<u8> {
        let mut all: Vec<u8> = self.requests().into_iter().flat_map(|request| request.raw).collect();
        all.extend_from_slice(&self.seen.scraps.lock().unwrap());
        all
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.seen.over.store(true, Ordering::SeqCst);
        // Wakes those who wait for a connection.
        for address in &self.addresses {
            let _ = TcpStream::connect(address);
        }
    }
}

fn listener() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

fn accept(listener: &TcpListener, seen: &Arc<Seen>, tls: Option<&Arc<ServerConfig>>, answer: &Arc<Answer>) {
    while let Ok((stream, _)) = listener.accept() {
        if seen.over.load(Ordering::SeqCst) {
            return;
        }
        seen.connections.fetch_add(1, Ordering::SeqCst);
        seen.open.fetch_add(1, Ordering::SeqCst);
        let (seen, tls, answer) = (Arc::clone(seen), tls.cloned(), Arc::clone(answer));
        thread::spawn(move || {
            let _ = converse(stream, tls, &seen, &answer);
            seen.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn converse(stream: TcpStream, tls: Option<Arc<ServerConfig>>, seen: &Seen, answer: &Arc<Answer>) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_PATIENCE))?;
    stream.set_write_timeout(Some(READ_PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut wire: Box<dyn Wire> = match tls {
        None => Box::new(stream),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            Box::new(StreamOwned::new(connection, stream))
        }
    };
    let mut held = Vec::new();
    loop {
        let read = read_request(&mut *wire, &mut held);
        let Ok(Some(request)) = read else {
            seen.scraps.lock().unwrap().append(&mut held);
            return Ok(());
        };
        seen.requests.lock().unwrap().push(request.clone());
        if answer(&request, &mut *wire)? == Next::Close {
            // What was not asked for is evidence too.
            seen.scraps.lock().unwrap().append(&mut held);
            return wire.flush();
        }
        wire.flush()?;
    }
}

/// Reads one request; nothing at the end of the connection.
fn read_request(wire: &mut dyn Wire, held: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let head_end = loop {
        if let Some(at) = find(held, b"\r\n\r\n") {
            break at + 4;
        }
        if !more(wire, held)? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&held[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let pair = |line: &str| line.split_once(':').map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(pair).collect();
    let mut request = Request { method, target, headers, ..Request::default() };
    let chunked = request.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let end = if chunked { chunks(wire, held, head_end, &mut request.body)? } else { Some(head_end + length) };
    let Some(end) = end else { return Ok(None) };
    while held.len() < end {
        if !more(wire, held)? {
            return Ok(None);
        }
    }
    if !chunked {
        request.body = held[head_end..end].to_vec();
    }
    request.raw = held.drain(..end).collect();
    Ok(Some(request))
}

/// Where a body of chunks ends.
fn chunks(wire: &mut dyn Wire, held: &mut Vec<u8>, mut at: usize, body: &mut Vec<u8>) -> io::Result<Option<usize>> {
    loop {
        let Some(line) = find(&held[at..], b"\r\n") else { if more(wire, held)? { continue } else { return Ok(None) } };
        let size = usize::from_str_radix(String::from_utf8_lossy(&held[at..at + line]).trim(), 16).unwrap_or(0);
        let end = at + line + 2 + size + 2;
        while held.len() < end {
            if !more(wire, held)? {
                return Ok(None);
            }
        }
        body.extend_from_slice(&held[at + line + 2..end - 2]);
        at = end;
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

fn more(wire: &mut dyn Wire, held: &mut Vec<u8>) -> io::Result<bool> {
    let mut piece = [0; 16 << 10];
    let read = wire.read(&mut piece)?;
    held.extend_from_slice(&piece[..read]);
    Ok(read > 0 && held.len() < REQUEST_BYTES_MAX)
}

pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Writes an answer with a body of known length.
pub fn reply(wire: &mut dyn Wire, status: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Next> {
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    wire.write_all(format!("{head}\r\n").as_bytes())?;
    wire.write_all(body)?;
    wire.flush()?;
    Ok(Next::Keep)
}

/// Writes a head that says a body of chunks follows.
pub fn begin_chunks(wire: &mut dyn Wire, headers: &[(&str, &str)]) -> io::Result<()> {
    let mut head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n".to_owned();
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    wire.write_all(format!("{head}\r\n").as_bytes())
}

pub fn chunk(wire: &mut dyn Wire, bytes: &[u8]) -> io::Result<()> {
    wire.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
    wire.write_all(bytes)?;
    wire.write_all(b"\r\n")?;
    wire.flush()
}
