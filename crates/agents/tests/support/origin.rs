//! A server on loopback that remembers what reached it.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Status, content type (and other headers, after line breaks) and body.
pub type Reply = (u16, &'static str, String);

pub struct Origin {
    pub url: String,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Origin {
    /// Answers each request as `answer` says; nothing means never.
    pub async fn new(answer: impl Fn(&Seen) -> Option<Reply> + Send + Sync + 'static) -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (known, answer) = (Arc::clone(&seen), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&known), Arc::clone(&answer)));
            }
        });
        Origin { url, seen, task }
    }

    pub fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

async fn serve(
    mut stream: tokio::net::TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<impl Fn(&Seen) -> Option<Reply>>,
) {
    let mut bytes = Vec::new();
    loop {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let line = lines.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
        while bytes.len() < end + 4 + length {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body = String::from_utf8_lossy(&bytes[end + 4..end + 4 + length]).into_owned();
        bytes.drain(..end + 4 + length);
        let request = Seen { line, headers, body };
        seen.lock().unwrap().push(request.clone());
        let Some((status, kind, body)) = answer(&request) else { return std::future::pending().await };
        let text =
            format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}
