//! Bodies as they were before they were compressed.

use super::error;
use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use hyper::HeaderMap;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::CONTENT_ENCODING;
use isolith_core::CallError;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

/// What is asked for.
pub(super) const ACCEPTED: &str = "gzip, br, zstd";
/// How often a body may be compressed.
const LAYERS_MAX: usize = 2;
/// How far back a zstd stream may refer, as a power of two: what RFC 9659 asks of every client, and no more.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// A way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Source = Box<dyn AsyncBufRead + Send + Unpin>;

/// How a body is compressed, in the order in which that was done. Nothing when it is not, or in a way that nobody knows: then
/// the guest gets it as it is.
pub(super) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, CallError> {
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in String::from_utf8_lossy(value.as_bytes()).split(',') {
            codings.push(match name.trim().to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return Ok(Vec::new()),
            });
        }
    }
    if codings.len() > LAYERS_MAX {
        let message = format!("the response is compressed {} times, and may be {LAYERS_MAX} times", codings.len());
        return Err(error::network("egress.protocol", message));
    }
    Ok(codings)
}

/// Undoes the codings, the last one first.
pub(super) fn decoded(body: Incoming, codings: &[Coding]) -> Reader {
    let mut layers = codings.iter().rev();
    let arriving = Arriving { body, bytes: Bytes::new() };
    let Some(outermost) = layers.next() else { return Box::new(arriving) };
    let mut reader = Decoder::new(*outermost, Box::new(arriving));
    for coding in layers {
        reader = Decoder::new(*coding, Box::new(BufReader::new(reader)));
    }
    Box::new(reader)
}

/// Undoes one coding. What decodes is made when the first bytes are there: an empty body is not compressed, and there are two
/// formats that are called deflate.
struct Decoder {
    coding: Coding,
    source: Option<Source>,
    reader: Option<Reader>,
}

impl Decoder {
    fn new(coding: Coding, source: Source) -> Decoder {
        Decoder { coding, source: Some(source), reader: None }
    }
}

impl AsyncRead for Decoder {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(source) = &mut self.source {
            let Some(first) = ready!(Pin::new(source).poll_fill_buf(cx))?.first().copied() else {
                return Poll::Ready(Ok(()));
            };
            let coding = self.coding;
            self.reader = self.source.take().map(|source| decoder(coding, first, source));
        }
        match &mut self.reader {
            Some(reader) => Pin::new(reader).poll_read(cx, buf),
            None => Poll::Ready(Ok(())),
        }
    }
}

fn decoder(coding: Coding, first: u8, source: Source) -> Reader {
    match coding {
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(source);
            decoder.multiple_members(true);
            Box::new(decoder)
        }
        // The method in a zlib header is 8, and no encoder starts a bare stream so.
        Coding::Deflate if first & 0x0f == 8 => Box::new(ZlibDecoder::new(source)),
        Coding::Deflate => Box::new(DeflateDecoder::new(source)),
        Coding::Brotli => Box::new(BrotliDecoder::new(source)),
        // THREAT[T-EGRESS-007]: a few bytes ask for a window of gigabytes.
        Coding::Zstd => {
            let window = DParameter::window_log_max(ZSTD_WINDOW_LOG_MAX);
            let mut decoder = ZstdDecoder::with_params(source, &[window]);
            decoder.multiple_members(true);
            Box::new(decoder)
        }
    }
}

/// A body as it arrives, without its trailers.
struct Arriving {
    body: Incoming,
    bytes: Bytes,
}

impl AsyncBufRead for Arriving {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.bytes.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => break,
                Some(frame) => this.bytes = frame.map_err(io::Error::other)?.into_data().unwrap_or_default(),
            }
        }
        Poll::Ready(Ok(&this.bytes))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let bytes = &mut self.get_mut().bytes;
        let _ = bytes.split_to(amount.min(bytes.len()));
    }
}

impl AsyncRead for Arriving {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let amount = bytes.len().min(buf.remaining());
        buf.put_slice(&bytes[..amount]);
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}
