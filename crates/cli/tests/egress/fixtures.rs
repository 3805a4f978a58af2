//! The three servers that the cases are played against.

use crate::support::origin::{Next, Origin, Request, Wire, begin_chunks, chunk, reply};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// ALLOWED, DENIED and INTERNAL.
pub(crate) struct Fixtures {
    pub(crate) allowed: Origin,
    pub(crate) denied: Origin,
    pub(crate) internal: Origin,
    /// How often a client was switched to another protocol because it asked for that.
    pub(crate) switched: Arc<AtomicUsize>,
}

impl Fixtures {
    pub(crate) fn start() -> Fixtures {
        let switched = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&switched);
        Fixtures {
            allowed: Origin::plain(move |request, wire| allowed(request, wire, &count)),
            denied: Origin::plain(|_, wire| reply(wire, "200 OK", &[], b"DENIED was reached")),
            internal: Origin::both_families(|_, wire| reply(wire, "200 OK", &[], b"INTERNAL was reached")),
            switched,
        }
    }
}

fn allowed(request: &Request, wire: &mut dyn Wire, switched: &AtomicUsize) -> io::Result<Next> {
    if request.header("upgrade").is_some() {
        switched.fetch_add(1, Ordering::SeqCst);
        wire.write_all(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")?;
        return Ok(Next::Close);
    }
    if request.header("expect").is_some() {
        wire.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    match request.path() {
        "/redirect" => {
            let status = format!("{} Elsewhere", request.query("code").unwrap_or_else(|| "302".into()));
            reply(wire, &status, &[("location", &request.query("to").unwrap_or_default())], b"")
        }
        "/loop" => reply(wire, "302 Found", &[("location", "/loop")], b""),
        "/refresh" => {
            let to = format!("0; url={}", request.query("to").unwrap_or_default());
            reply(wire, "200 OK", &[("refresh", &to)], b"refreshing")
        }
        "/set-cookie" => reply(wire, "200 OK", &[("set-cookie", "jar=full; Path=/; Max-Age=9999")], b"a cookie"),
        "/json-deep" => {
            const DEPTH: usize = 1_000_000;
            reply(wire, "200 OK", &[], &[vec![b'['; DEPTH], vec![b']'; DEPTH]].concat())
        }
        path if path.starts_with("/reflect") => reflect(path, request, wire),
        "/gzip-bomb" | "/br-bomb" | "/deflate-bomb" | "/zstd-bomb" | "/infinite" | "/slow-body" | "/slow-head"
        | "/huge-headers" | "/many-headers" | "/huge-status" | "/trailers" | "/reset" | "/two-cl" | "/short"
        | "/bad-chunk" | "/continues" => misbehave(request.path(), wire),
        _ => echo(request, wire),
    }
}

fn echo(request: &Request, wire: &mut dyn Wire) -> io::Result<Next> {
    let headers: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let body = String::from_utf8_lossy(&request.body);
    reply(wire, "200 OK", &[], format!("echo {} {}\n{headers}\n{body}", request.method, request.target).as_bytes())
}

/// Tells what it was sent, in one way or another.
fn reflect(path: &str, request: &Request, wire: &mut dyn Wire) -> io::Result<Next> {
    let secret = request.header("authorization").unwrap_or("none");
    match path {
        "/reflect-header" => reply(wire, "200 OK", &[("x-echo", secret), ("x-again", secret)], b"see the header"),
        "/reflect-status" => reply(wire, &format!("200 {secret}"), &[], b"see the status"),
        "/reflect-b64" => reply(wire, "200 OK", &[], STANDARD.encode(secret).as_bytes()),
        "/reflect-json" => reply(wire, "200 OK", &[], serde_json::json!({ "auth": secret }).to_string().as_bytes()),
        "/reflect-url" => reply(wire, "200 OK", &[("x-url", &request.target)], request.target.as_bytes()),
        "/reflect-location" => reply(wire, "302 Found", &[("location", &format!("/echo?auth={secret}"))], b""),
        "/reflect-gzip" => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(secret.as_bytes())?;
            reply(wire, "200 OK", &[("content-encoding", "gzip")], &packed.finish()?)
        }
        "/reflect-split" => {
            const PIECE_BYTES: usize = 3;
            begin_chunks(wire, &[])?;
            for piece in secret.as_bytes().chunks(PIECE_BYTES) {
                chunk(wire, piece)?;
                thread::sleep(Duration::from_millis(2)); // so that pieces come one by one
            }
            chunk(wire, b"")?;
            Ok(Next::Keep)
        }
        _ => match request.header("range").and_then(range) {
            Some((from, to)) => {
                let all = &request.raw;
                let to = to.min(all.len().saturating_sub(1));
                let part = all.get(from..=to).unwrap_or_default();
                let range = format!("bytes {from}-{to}/{}", all.len());
                reply(wire, "206 Partial Content", &[("content-range", &range)], part)
            }
            None => reply(wire, "200 OK", &[], &request.raw),
        },
    }
}

/// `bytes=0-20`
fn range(text: &str) -> Option<(usize, usize)> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    Some((from.parse().ok()?, to.parse().unwrap_or(usize::MAX)))
}

fn misbehave(path: &str, wire: &mut dyn Wire) -> io::Result<Next> {
    match path {
        "/gzip-bomb" => {
            packed_head(wire, "gzip")?;
            zeros(GzEncoder::new(wire, Compression::best()), 10 * GIB)?;
        }
        "/deflate-bomb" => {
            packed_head(wire, "deflate")?;
            zeros(flate2::write::ZlibEncoder::new(wire, Compression::best()), 10 * GIB)?;
        }
        "/br-bomb" => {
            packed_head(wire, "br")?;
            zeros(brotli::CompressorWriter::new(wire, 64 << 10, 5, 22), 10 * GIB)?;
        }
        "/zstd-bomb" => {
            packed_head(wire, "zstd")?;
            zeros(zstd::stream::Encoder::new(wire, 3)?.auto_finish(), 10 * GIB)?;
        }
        "/infinite" => {
            begin_chunks(wire, &[])?;
            loop {
                chunk(wire, &[b'x'; 16 << 10])?;
            }
        }
        "/slow-body" => {
            begin_chunks(wire, &[])?;
            for _ in 0..60 {
                chunk(wire, b"x")?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        "/slow-head" => {
            wire.write_all(b"HTTP/1.1 200 OK\r\n")?;
            for _ in 0..60 {
                wire.write_all(b"x-a: b\r\n")?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        "/huge-headers" => flood(wire, b"HTTP/1.1 200 OK\r\n", format!("x-a: {}\r\n", "a".repeat(1000)), 100 * MIB)?,
        "/many-headers" => flood(wire, b"HTTP/1.1 200 OK\r\n", "x-a: b\r\n".into(), 10 * MIB)?,
        "/huge-status" => flood(wire, b"HTTP/1.1 200 ", "O".repeat(1000), 10 * MIB)?,
        "/continues" => flood(wire, b"", "HTTP/1.1 100 Continue\r\n\r\n".into(), GIB)?,
        "/trailers" => {
            begin_chunks(wire, &[("trailer", "x-t")])?;
            chunk(wire, b"body")?;
            flood(wire, b"0\r\n", format!("x-t: {}\r\n", "t".repeat(1000)), GIB)?;
        }
        "/reset" => {
            wire.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nthe beginning")?;
            wire.flush()?;
            thread::sleep(Duration::from_millis(50)); // so that the beginning is read before the reset
            wire.reset();
        }
        "/short" => wire.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nshort")?,
        "/two-cl" => wire.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\nfive!nine")?,
        _ => wire.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nno number\r\n")?,
    }
    Ok(Next::Close)
}

fn packed_head(wire: &mut dyn Wire, encoding: &str) -> io::Result<()> {
    wire.write_all(format!("HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\nconnection: close\r\n\r\n").as_bytes())
}

/// Writes so many zeros, packed on the way.
fn zeros(mut packer: impl Write, bytes: usize) -> io::Result<()> {
    let block = vec![0; MIB];
    (0..bytes / MIB).try_for_each(|_| packer.write_all(&block))
}

/// Writes a line again and again, and then the end that nobody waits for.
fn flood(wire: &mut dyn Wire, start: &[u8], line: String, bytes: usize) -> io::Result<()> {
    wire.write_all(start)?;
    let block = line.repeat(MIB / line.len());
    (0..bytes / MIB).try_for_each(|_| wire.write_all(block.as_bytes()))?;
    wire.write_all(b"\r\n\r\n")
}
