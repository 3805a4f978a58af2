//! Small responses come whole with the reply, and are counted, redacted and bounded as those that are read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    Answer, AuditLog, AuditRow, BodyId, CallOutcome, FetchCall, Grant, Host, HostCall, HostReply, Limits, RequestId,
    RunId,
};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

const TOKEN: &str = "sk-live-0123456789";

/// Says each answer in one piece, so that all of it is there at once; but of `/late` the half until it is told.
async fn serve(mut stream: TcpStream, rest: Arc<Notify>) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return;
        }
        seen.extend_from_slice(&buffer[..read]);
        let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(seen.drain(..end + 4).collect()).unwrap();
        let path = head.split(' ').nth(1).unwrap();
        let plain = |body: &str| format!("HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = match path {
            "/small" => plain("hello"),
            "/nothing" => plain(""),
            "/chunked" => {
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n".into()
            }
            "/empty" => "HTTP/1.1 204 No Content\r\n\r\n".into(),
            "/edge" => plain(&"x".repeat(16 << 10)),
            "/large" => plain(&"x".repeat((16 << 10) + 1)),
            "/reflect" => plain(&head),
            "/broken" => "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello".into(),
            _ => "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel".into(),
        };
        if stream.write_all(answer.as_bytes()).await.is_err() || path == "/broken" {
            return;
        }
        if path == "/late" {
            rest.notified().await;
            stream.write_all(b"lo").await.unwrap();
        }
    }
}

#[derive(Default)]
struct Rows(Mutex<Vec<AuditRow>>);

impl AuditLog for Rows {
    fn record(&self, row: AuditRow) {
        self.0.lock().unwrap().push(row);
    }

    fn flush(&self) -> Result<(), String> {
        Ok(())
    }
}

struct Desk {
    gate: Gate,
    rows: Arc<Rows>,
    rest: Arc<Notify>,
    address: SocketAddr,
    _secret: tempfile::NamedTempFile,
}

impl Desk {
    async fn new(limits: Limits, credential: Option<Value>) -> Desk {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, rest) = (listener.local_addr().unwrap(), Arc::new(Notify::new()));
        let told = Arc::clone(&rest);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&told)));
            }
        });
        let mut egress = json!({ "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": address.port() });
        if let Some(credential) = credential {
            egress["credential"] = credential;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TOKEN).unwrap();
        let secret =
            json!({ "kind": "secret", "name": "TOKEN", "from": format!("${{file:{}}}", file.path().display()) });
        let grants: Vec<Grant> = [egress, secret].iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect();
        let rows = Arc::new(Rows::default());
        let mut means = Means::new(Arc::new(Net::new(NetOptions::default()).unwrap()), ".".into());
        means.audit = Some(Arc::clone(&rows) as Arc<dyn AuditLog>);
        let identity = Identity { run: RunId("r".into()), program: "p".into() };
        Desk { gate: Gate::new(grants, limits, identity, means).unwrap(), rows, rest, address, _secret: file }
    }

    async fn get(&self, path: &str) -> Answer {
        let call = FetchCall::get(RequestId(1), format!("http://{}{path}", self.address));
        self.gate.call(HostCall::Fetch(Box::new(call))).await
    }

    async fn read(&self, body: u32) -> HostReply {
        self.gate.call(HostCall::ReadBody { body: BodyId(body), most_bytes: 1 << 16 }).await.reply
    }

    /// The outcome and the bytes of every row so far.
    fn rows(&self) -> Vec<(CallOutcome, u64)> {
        self.rows.0.lock().unwrap().iter().map(|row| (row.outcome, row.bytes_in)).collect()
    }
}

/// The body that came along, and the number of one that did not.
fn came(reply: &HostReply) -> (Option<String>, Option<u64>) {
    match reply {
        HostReply::Response { head, status, whole } => {
            let head: Value = head.parse().unwrap();
            assert_eq!((&head["status"], &head["body"]), (&json!(status), &Value::Null));
            assert_eq!(head["length"], json!(whole.len()));
            (Some(String::from_utf8(whole.clone()).unwrap()), None)
        }
        HostReply::Value { json: Some(head) } => (None, head.parse::<Value>().unwrap()["body"].as_u64()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_small_and_there_comes_along_and_is_counted() {
    let desk = Desk::new(Limits::default(), None).await;
    for (path, body) in [("/small", "hello"), ("/nothing", ""), ("/chunked", "hello")] {
        let Answer { reply, acts } = desk.get(path).await;
        assert_eq!(came(&reply), (Some(body.to_owned()), None), "{path}");
        assert_eq!(acts.len(), 1);
        assert_eq!(
            (acts[0].outcome, acts[0].what.as_str()),
            (CallOutcome::Ok, format!("GET http://{}{path}", desk.address).as_str())
        );
    }
    assert_eq!(desk.rows(), [(CallOutcome::Ok, 5), (CallOutcome::Ok, 0), (CallOutcome::Ok, 5)]);
    assert!(!desk.gate.holds(), "nothing is left with the host");
    assert_eq!(came(&desk.get("/empty").await.reply), (None, None), "there cannot be a body");
    assert_eq!(came(&desk.get("/edge").await.reply).0.map(|body| body.len()), Some(16 << 10));
}

#[tokio::test]
async fn what_is_large_or_late_is_read_as_ever() {
    let desk = Desk::new(Limits::default(), None).await;
    let (None, Some(large)) = came(&desk.get("/large").await.reply) else { panic!("it came along") };
    let mut length = 0;
    while let HostReply::Bytes { bytes } = desk.read(large as u32).await {
        length += bytes.len();
        if bytes.is_empty() {
            break;
        }
    }
    assert_eq!((length, desk.rows()), ((16 << 10) + 1, vec![(CallOutcome::Ok, (16 << 10) + 1)]));
    let (None, Some(late)) = came(&desk.get("/late").await.reply) else { panic!("it was not there") };
    assert!(desk.gate.holds());
    desk.rest.notify_one();
    let mut text = Vec::new();
    while let HostReply::Bytes { bytes } = desk.read(late as u32).await {
        text.extend_from_slice(&bytes);
        if bytes.is_empty() {
            break;
        }
    }
    assert_eq!((text.as_slice(), desk.rows()[1]), (b"hello".as_slice(), (CallOutcome::Ok, 5)));
}

#[tokio::test]
async fn a_body_that_breaks_off_says_so_when_it_is_read() {
    let desk = Desk::new(Limits::default(), None).await;
    let (None, Some(body)) = came(&desk.get("/broken").await.reply) else { panic!("it is not whole") };
    let mut last = desk.read(body as u32).await;
    while let HostReply::Bytes { bytes } = &last {
        assert!(!bytes.is_empty(), "it has no end");
        last = desk.read(body as u32).await;
    }
    assert!(matches!(&last, HostReply::Failed { error } if error.code.as_deref() == Some("egress.reset")), "{last:?}");
    assert_eq!(desk.rows(), [(CallOutcome::Failed, 5)]);
}

#[tokio::test]
async fn limits_hold_for_what_comes_along() {
    let desk = Desk::new(Limits { egress_response_bytes: 4, ..Limits::default() }, None).await;
    for path in ["/small", "/chunked"] {
        let reply = match desk.get(path).await.reply {
            // Only when it comes is it known to be too much.
            HostReply::Value { json: Some(head) } => {
                desk.read(head.parse::<Value>().unwrap()["body"].as_u64().unwrap() as u32).await
            }
            other => other,
        };
        let code = |reply: &HostReply| matches!(reply, HostReply::Failed { error } if error.code.as_deref() == Some("egress.response_too_large"));
        assert!(code(&reply), "{path} {reply:?}");
    }
    // A reply that would be too large for the guest is not made: the body is read in pieces that are not.
    let desk = Desk::new(Limits { payload_bytes: 8 << 10, ..Limits::default() }, None).await;
    assert_eq!(came(&desk.get("/edge").await.reply).0, None);
}

#[tokio::test]
async fn secrets_are_taken_out_of_what_comes_along() {
    let credential = json!({ "header": "x-key", "value": "${TOKEN}" });
    let desk = Desk::new(Limits::default(), Some(credential)).await;
    let body = came(&desk.get("/reflect").await.reply).0.unwrap();
    assert!(body.contains("x-key: [redacted TOKEN]") && !body.contains(TOKEN), "{body}");
    assert_eq!(desk.rows(), [(CallOutcome::Ok, body.len() as u64)]);
}
