use super::{Seen, State, Wire, chunk, write};
use async_compression::tokio::bufread::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncRead, AsyncReadExt};

const TEXT: &str = "a text that is compressed, and again: a text that is compressed";

/// Answers one request; says whether the connection goes on.
pub(super) async fn answer(seen: &Seen, wire: &mut Box<dyn Wire>, state: &State) -> io::Result<bool> {
    let route = seen.path.split('?').next().unwrap_or_default();
    let number = || seen.parameter("n").and_then(|n| n.parse::<usize>().ok()).unwrap_or(1000);
    match route {
        "/redirect" => {
            let (code, to) = (seen.parameter("code").unwrap(), seen.parameter("to").unwrap());
            respond(wire, &format!("{code} Elsewhere"), &format!("location: {to}\r\n"), b"moved").await?;
        }
        "/loop" => respond(wire, "302 Found", "location: /loop\r\n", b"").await?,
        // Sends the client on with the query it came with.
        "/keep-query" => {
            let query = seen.path.split_once('?').map_or("", |(_, query)| query);
            let to = seen.parameter("to").unwrap();
            let to = format!("location: {to}{}{query}\r\n", if to.contains('?') { "&" } else { "?" });
            respond(wire, "302 Found", &to, b"").await?;
        }
        "/refresh" => respond(wire, "200 OK", "refresh: 0; url=/echo\r\n", b"").await?,
        "/status" => respond(wire, &format!("{} Its Own Words", seen.parameter("code").unwrap()), "", b"").await?,
        "/empty" => respond(wire, "204 No Content", "", b"").await?,
        "/set-cookie" => respond(wire, "200 OK", "set-cookie: a=1\r\nset-cookie: b=2\r\n", b"").await?,
        "/latin1" => write(wire, b"HTTP/1.1 200 OK\r\nx-name: caf\xe9\r\ncontent-length: 0\r\n\r\n").await?,
        "/big" => {
            write(wire, format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", number()).as_bytes()).await?;
            write(wire, &vec![b'x'; number()]).await?;
        }
        "/gzip" => encoded(wire, "gzip", &all(GzipEncoder::new(TEXT.as_bytes())).await).await?,
        "/br" => encoded(wire, "br", &all(BrotliEncoder::new(TEXT.as_bytes())).await).await?,
        "/zstd" => encoded(wire, "zstd", &all(ZstdEncoder::new(TEXT.as_bytes())).await).await?,
        "/deflate" => encoded(wire, "deflate", &all(ZlibEncoder::new(TEXT.as_bytes())).await).await?,
        "/bare-deflate" => encoded(wire, "deflate", &all(DeflateEncoder::new(TEXT.as_bytes())).await).await?,
        "/twice" => {
            let inner = all(GzipEncoder::new(TEXT.as_bytes())).await;
            encoded(wire, "gzip, br", &all(BrotliEncoder::new(inner.as_slice())).await).await?;
        }
        "/thrice" => encoded(wire, "gzip, gzip, gzip", b"x").await?,
        "/empty-gzip" => encoded(wire, "gzip", b"").await?,
        "/unknown-coding" => encoded(wire, "utf-8", TEXT.as_bytes()).await?,
        "/not-gzip" => encoded(wire, "gzip", TEXT.as_bytes()).await?,
        "/gzip-bomb" => return bomb(wire, state, "gzip", all(GzipEncoder::new(zeros().as_slice())).await).await,
        "/zstd-bomb" => return bomb(wire, state, "zstd", all(ZstdEncoder::new(zeros().as_slice())).await).await,
        "/br-bomb" => {
            let bomb = all(BrotliEncoder::new(vec![0; 64 << 20].as_slice())).await;
            encoded(wire, "br", &bomb).await?;
        }
        // A frame whose header asks for a window of 2 GiB.
        "/zstd-window" => encoded(wire, "zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x00, 0, 0, 0]).await?,
        "/infinite" => return bomb(wire, state, "identity", vec![b'x'; 16 << 10]).await,
        "/slow" => {
            write(wire, b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx").await?;
            std::future::pending::<()>().await;
        }
        "/silent" | "/early-silent" => return gone(wire).await,
        "/huge-headers" => {
            write(wire, b"HTTP/1.1 200 OK\r\n").await?;
            return endless(wire, state, &[b"x-flood: ", vec![b'x'; 8 << 10].as_slice(), b"\r\n"].concat()).await;
        }
        "/many-headers" => {
            let many: String = (0..number()).map(|i| format!("x-{i}: 1\r\n")).collect();
            respond(wire, "200 OK", &many, b"").await?;
        }
        "/huge-status" => {
            write(wire, b"HTTP/1.1 200 ").await?;
            return endless(wire, state, &[b'x'; 8 << 10]).await;
        }
        "/trailers" => {
            write(wire, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n").await?;
            return endless(wire, state, b"x-trailer: 1234567890\r\n").await;
        }
        "/some-trailers" => {
            let rest = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nx-trailer: 1\r\n\r\n";
            write(wire, rest.as_bytes()).await?;
        }
        "/bad-chunk" => {
            write(wire, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n").await?;
            return Ok(false);
        }
        "/soon" => return endless(wire, state, b"HTTP/1.1 103 Early Hints\r\n\r\n").await,
        "/soon-enough" => {
            write(wire, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n").await?;
            respond(wire, "200 OK", "", b"at last").await?;
        }
        "/reset" => {
            write(wire, b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this").await?;
            return Ok(false);
        }
        "/hang-up" => return Ok(false),
        "/two-lengths" => {
            write(wire, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!").await?;
        }
        "/garbage" => {
            write(wire, b"SSH-2.0-OpenSSH_9.9\r\n\r\n").await?;
            return Ok(false);
        }
        "/switch" => write(wire, b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n").await?,
        "/reflect" => respond(wire, "200 OK", "", dump(seen).as_bytes()).await?,
        "/reflect-header" => {
            let secret = seen.header("authorization").unwrap_or_default();
            respond(wire, &format!("200 {secret}"), &format!("x-echo: you said {secret}\r\n"), b"").await?;
        }
        "/reflect-bytes" => {
            write(wire, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            for byte in dump(seen).bytes() {
                write(wire, &[b"1\r\n", [byte].as_slice(), b"\r\n"].concat()).await?;
            }
            write(wire, b"0\r\n\r\n").await?;
        }
        "/reflect-gzip" => encoded(wire, "gzip", &all(GzipEncoder::new(dump(seen).as_bytes())).await).await?,
        // Repeats the body as it comes.
        "/upload" => {
            let whole = repeat(wire).await;
            *state.upload.lock().unwrap() = Some(if whole.is_ok() { "whole" } else { "broken off" });
            whole?;
        }
        // Takes nothing of the body and says nothing.
        "/early-deaf" => std::future::pending().await,
        "/early" => {
            respond(wire, "413 Too Much", "connection: close\r\n", b"").await?;
            return Ok(false);
        }
        "/close" => {
            respond(wire, "200 OK", "connection: close\r\n", b"bye").await?;
            return Ok(false);
        }
        // Says that the connection stays, and closes it.
        "/close-quietly" => {
            respond(wire, "200 OK", "", b"bye").await?;
            return Ok(false);
        }
        _ => respond(wire, "200 OK", "content-type: text/plain\r\n", dump(seen).as_bytes()).await?,
    }
    Ok(true)
}

/// Says nothing until the client is gone.
async fn gone(wire: &mut Box<dyn Wire>) -> io::Result<bool> {
    let mut buffer = [0; 1024];
    while wire.read(&mut buffer).await? > 0 {}
    Ok(false)
}

async fn repeat(wire: &mut Box<dyn Wire>) -> io::Result<()> {
    write(wire, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
    loop {
        let mut bytes = Vec::new();
        let more = chunk(wire, &mut bytes).await.ok_or(io::ErrorKind::UnexpectedEof)?;
        write(wire, &[format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()).await?;
        if !more {
            return Ok(());
        }
    }
}

/// The whole request as text.
pub(super) fn dump(seen: &Seen) -> String {
    let headers: String = seen.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{} {}\n{headers}\n{}", seen.method, seen.path, String::from_utf8_lossy(&seen.body))
}

async fn respond(wire: &mut Box<dyn Wire>, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    write(wire, &[head.as_bytes(), body].concat()).await
}

async fn encoded(wire: &mut Box<dyn Wire>, coding: &str, body: &[u8]) -> io::Result<()> {
    respond(wire, "200 OK", &format!("content-encoding: {coding}\r\n"), body).await
}

async fn bomb(wire: &mut Box<dyn Wire>, state: &State, coding: &str, piece: Vec<u8>) -> io::Result<bool> {
    let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-encoding: {coding}\r\n\r\n");
    write(wire, head.as_bytes()).await?;
    let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece.as_slice(), b"\r\n"].concat();
    endless(wire, state, &chunk).await
}

async fn endless(wire: &mut Box<dyn Wire>, state: &State, piece: &[u8]) -> io::Result<bool> {
    loop {
        write(wire, piece).await?;
        state.sent.fetch_add(piece.len(), Ordering::SeqCst);
    }
}

fn zeros() -> Vec<u8> {
    vec![0; 1 << 20]
}

async fn all(mut reader: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut out = Vec::new();
    reader.read_to_end(&mut out).await.unwrap();
    out
}

/// HTTP/2: repeats the request; `/flood` answers with a huge head, `/reset` breaks off.
pub(super) async fn serve_http2(wire: impl Wire + 'static, state: Arc<State>, connection: usize) {
    use http_body_util::{BodyExt, Full};
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let state = state.clone();
        async move {
            let (parts, body) = request.into_parts();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let headers = parts.headers.iter().map(|(n, v)| (n.to_string(), text(v.as_bytes())));
            let mut headers: Vec<(String, String)> = headers.collect();
            headers.push((":authority".into(), parts.uri.authority().map(|a| a.to_string()).unwrap_or_default()));
            let path = parts.uri.path_and_query().map(|p| p.to_string()).unwrap_or_default();
            let body = body.collect().await?.to_bytes().to_vec();
            let seen = Seen { method: parts.method.to_string(), path, headers, body, connection };
            state.seen.lock().unwrap().push(seen.clone());
            let mut response = hyper::Response::new(Full::new(Bytes::from(dump(&seen))));
            if seen.path == "/flood" {
                for i in 0..200 {
                    let name = hyper::header::HeaderName::from_bytes(format!("x-{i}").as_bytes()).unwrap();
                    response.headers_mut().insert(name, "y".repeat(1000).parse().unwrap());
                }
            }
            if seen.path == "/big" {
                *response.body_mut() = Full::new(Bytes::from(vec![b'x'; 3 << 20]));
            }
            Ok::<_, hyper::Error>(response)
        }
    });
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .max_header_list_size(1 << 20)
        .serve_connection(TokioIo::new(wire), service)
        .await;
}
