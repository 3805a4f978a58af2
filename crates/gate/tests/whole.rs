//! Small responses come whole with the reply, and are counted, redacted and bounded as those that are read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    Answer, AuditLog, AuditRow, BodyId, CallId, CallOutcome, FetchCall, Grant, Host, HostCall, HostReply, Limits,
    RequestId, RunId,
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
            "/some" => plain(&"x".repeat(4 << 10)),
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

    fn flush(&self) -> isolith_core::BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
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
        self.gate.call(CallId(0), HostCall::Fetch(Box::new(call))).await
    }

    async fn read(&self, body: u32) -> HostReply {
        self.gate.call(CallId(1), HostCall::ReadBody { body: BodyId(body), most_bytes: 1 << 16 }).await.reply
    }

    /// A body read to its end, or why it has none.
    async fn read_all(&self, body: u64) -> Result<Vec<u8>, Option<String>> {
        let mut all = Vec::new();
        loop {
            match self.read(body as u32).await {
                HostReply::Bytes { bytes } if bytes.is_empty() => return Ok(all),
                HostReply::Bytes { bytes } => all.extend(bytes),
                HostReply::Failed { error } => return Err(error.code),
                other => panic!("{other:?}"),
            }
        }
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
    for (path, body) in [("/small", "hello"), ("/nothing", "")] {
        let Answer { reply, acts } = desk.get(path).await;
        assert_eq!(came(&reply), (Some(body.to_owned()), None), "{path}");
        assert_eq!(acts.len(), 1);
        assert_eq!(
            (acts[0].outcome, acts[0].what.as_str()),
            (CallOutcome::Ok, format!("GET http://{}{path}", desk.address).as_str())
        );
    }
    assert_eq!(desk.rows(), [(CallOutcome::Ok, 5), (CallOutcome::Ok, 0)]);
    assert!(desk.gate.leave(&[]), "nothing is left with the host");
    assert_eq!(came(&desk.get("/empty").await.reply), (None, None), "there cannot be a body");
    assert_eq!(came(&desk.get("/some").await.reply).0.map(|body| body.len()), Some(4 << 10));
}

#[tokio::test]
async fn what_is_large_or_late_is_read_as_ever() {
    let desk = Desk::new(Limits::default(), None).await;
    let (None, Some(large)) = came(&desk.get("/large").await.reply) else { panic!("it came along") };
    assert_eq!(desk.read_all(large).await.map(|body| body.len()), Ok((16 << 10) + 1));
    assert_eq!(desk.rows(), [(CallOutcome::Ok, (16 << 10) + 1)]);
    let (None, Some(late)) = came(&desk.get("/late").await.reply) else { panic!("it was not there") };
    assert!(!desk.gate.leave(&[]));
    desk.rest.notify_one();
    assert_eq!(desk.read_all(late).await, Ok(b"hello".to_vec()));
    // The client hands a body over chunk by chunk, and asks for the next when one was taken: several are not there at once.
    let (None, Some(chunked)) = came(&desk.get("/chunked").await.reply) else { panic!("it came along") };
    assert_eq!(desk.read_all(chunked).await, Ok(b"hello".to_vec()));
    assert_eq!(desk.rows()[1..], [(CallOutcome::Ok, 5), (CallOutcome::Ok, 5)]);
}

#[tokio::test]
async fn a_body_that_breaks_off_says_so_when_it_is_read() {
    let desk = Desk::new(Limits::default(), None).await;
    let (None, Some(body)) = came(&desk.get("/broken").await.reply) else { panic!("it is not whole") };
    assert_eq!(desk.read_all(body).await, Err(Some("egress.reset".to_owned())));
    assert_eq!(desk.rows(), [(CallOutcome::Failed, 5)]);
}

#[tokio::test]
async fn limits_hold_for_what_comes_along() {
    let desk = Desk::new(Limits { egress_response_bytes: 4, ..Limits::default() }, None).await;
    let too_large = Some("egress.response_too_large".to_owned());
    let HostReply::Failed { error } = desk.get("/small").await.reply else { panic!("its length is known") };
    assert_eq!(error.code, too_large);
    let (None, Some(chunked)) = came(&desk.get("/chunked").await.reply) else { panic!("it came along") };
    assert_eq!(desk.read_all(chunked).await, Err(too_large));
    // A reply that would be too large for the guest is not made: the body is read in pieces that are not.
    let desk = Desk::new(Limits { payload_bytes: 6 << 10, ..Limits::default() }, None).await;
    assert_eq!(came(&desk.get("/some").await.reply).0, None);
    let desk = Desk::new(Limits { payload_bytes: 8 << 10, ..Limits::default() }, None).await;
    assert!(came(&desk.get("/some").await.reply).0.is_some(), "the half of it is enough");
}

#[tokio::test]
async fn secrets_are_taken_out_of_what_comes_along() {
    let credential = json!({ "header": "x-key", "value": "${TOKEN}" });
    let desk = Desk::new(Limits::default(), Some(credential)).await;
    let body = came(&desk.get("/reflect").await.reply).0.unwrap();
    assert!(body.contains("x-key: [redacted TOKEN]") && !body.contains(TOKEN), "{body}");
    assert_eq!(desk.rows(), [(CallOutcome::Ok, body.len() as u64)]);
}
