//! Requests of who brings a run's tools: under grants of their own, and otherwise as those of the program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{AuditLog, AuditRow, CallId, FetchCall, Grant, Host, HostCall, HostReply, Limits, RequestId, RunId};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means, Sent};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TOKEN: &str = "sk-live-0123456789";

/// Says what it was sent.
async fn serve(mut stream: TcpStream) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return;
        }
        seen.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8(seen.clone()).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
        if body.len() < length {
            continue;
        }
        seen.clear();
        let path = head.split(' ').nth(1).unwrap();
        let plain =
            |status: &str, body: &str| format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = match path {
            "/away" => "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".into(),
            "/round" => "HTTP/1.1 307 Temporary\r\nlocation: /echo\r\ncontent-length: 0\r\n\r\n".into(),
            "/large" => plain("200 OK", &"x".repeat(300_000)),
            "/gone" => plain("410 Gone", "no longer"),
            "/empty" => "HTTP/1.1 204 No Content\r\n\r\n".into(),
            _ => plain("200 OK", &text),
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
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
    address: SocketAddr,
    secret: tempfile::NamedTempFile,
}

impl Desk {
    /// A run without any grant.
    async fn new(limits: Limits) -> Desk {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        let secret = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(secret.path(), TOKEN).unwrap();
        let rows = Arc::new(Rows::default());
        let mut means = Means::new(Arc::new(Net::new(NetOptions::default()).unwrap()), ".".into());
        means.audit = Some(Arc::clone(&rows) as Arc<dyn AuditLog>);
        let identity = Identity { run: RunId("r".into()), program: "p".into() };
        Desk { gate: Gate::new(Vec::new(), limits, identity, means).unwrap(), rows, address, secret }
    }

    /// What the one who sends may do.
    fn grants(&self) -> Vec<Grant> {
        let egress = json!({
            "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": self.address.port(),
            "credential": {"bearer": "TOKEN"},
        });
        let from = format!("${{file:{}}}", self.secret.path().display());
        let secret = json!({"kind": "secret", "name": "TOKEN", "from": from});
        [egress, secret].iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect()
    }

    fn post(&self, path: &str) -> FetchCall {
        let call = FetchCall::get(RequestId(0), format!("http://{}{path}", self.address));
        let headers = vec![("content-type".into(), "application/json".into())];
        FetchCall { method: "POST".into(), headers, body: Some(b"{}".to_vec()), ..call }
    }

    /// The answer as text, or the code of what went wrong; and the rows.
    async fn send(&self, grants: Vec<Grant>, call: FetchCall) -> (Result<(u16, String), String>, Vec<String>) {
        let sent = self.gate.send_for(grants, call).await;
        let sent = sent.map(|Sent { head, body }| (head.status, String::from_utf8(body).unwrap()));
        let rows = std::mem::take(&mut *self.rows.0.lock().unwrap());
        let at = self.address.to_string();
        let row = |row: AuditRow| {
            assert_eq!((row.run.0.as_str(), row.program.as_str()), ("r", "p"));
            let text = format!("{:?} {} / {} {}/{}", row.outcome, row.grant, row.what, row.bytes_out, row.bytes_in);
            text.replace(&at, "HERE")
        };
        (sent.map_err(|error| error.code.unwrap()), rows.into_iter().map(row).collect())
    }
}

#[tokio::test]
async fn it_goes_under_the_grants_that_are_given() {
    let desk = Desk::new(Limits::default()).await;
    let (sent, rows) = desk.send(desk.grants(), desk.post("/echo")).await;
    let (status, body) = sent.unwrap();
    assert_eq!(status, 200);
    assert!(body.starts_with("POST /echo ") && body.ends_with("\r\n\r\n{}"), "{body}");
    assert!(body.contains("authorization: Bearer [redacted TOKEN]") && !body.contains(TOKEN), "{body}");
    assert_eq!(rows, [format!("Ok egress:http://HERE / POST http://HERE/echo 2/{}", body.len())]);
    // What the program writes later does not show it either.
    assert_eq!(desk.gate.scrub(&format!("a {TOKEN}")), "a [redacted TOKEN]");
    // The program itself may do nothing of this.
    let call = HostCall::Fetch(Box::new(desk.post("/echo")));
    let HostReply::Failed { error } = desk.gate.call(CallId(0), call).await.reply else { panic!("it went") };
    assert_eq!(error.code.as_deref(), Some("egress.denied"));
}

#[tokio::test]
async fn the_answer_is_there_whole_or_not_at_all() {
    let desk = Desk::new(Limits::default()).await;
    let (sent, rows) = desk.send(desk.grants(), desk.post("/large")).await;
    assert_eq!(sent.map(|(status, body)| (status, body.len())), Ok((200, 300_000)));
    assert_eq!(rows, ["Ok egress:http://HERE / POST http://HERE/large 2/300000"]);
    assert_eq!(desk.send(desk.grants(), desk.post("/gone")).await.0, Ok((410, "no longer".into())));
    assert_eq!(desk.send(desk.grants(), desk.post("/empty")).await.0, Ok((204, String::new())));
    let (sent, rows) = desk.send(desk.grants(), desk.post("/round")).await;
    assert!(sent.unwrap().1.starts_with("POST /echo"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    let small = Desk::new(Limits { egress_response_bytes: 1000, egress_requests: 2, ..Limits::default() }).await;
    assert_eq!(small.send(small.grants(), small.post("/large")).await.0, Err("egress.response_too_large".into()));
    assert_eq!(small.send(small.grants(), small.post("/gone")).await.0, Ok((410, "no longer".into())));
    assert_eq!(small.send(small.grants(), small.post("/gone")).await.0, Err("egress.limit".into()));
}

#[tokio::test]
async fn what_is_refused_is_written_down() {
    let desk = Desk::new(Limits::default()).await;
    let (sent, rows) = desk.send(Vec::new(), desk.post("/echo")).await;
    assert_eq!(sent, Err("egress.denied".into()));
    assert_eq!(rows, ["Denied egress:POST http://HERE/echo / POST http://HERE/echo 0/0"]);
    let (sent, rows) = desk.send(desk.grants(), desk.post("/away")).await;
    assert_eq!(sent, Err("egress.denied".into()));
    assert_eq!(
        rows,
        [
            "Ok egress:http://HERE / POST http://HERE/away 2/0",
            "Denied egress:GET http://127.0.0.1:1 / GET http://127.0.0.1:1/ 0/0",
        ]
    );
    let odd = FetchCall { url: "ftp://x/".into(), ..desk.post("/") };
    let (sent, rows) = desk.send(desk.grants(), odd).await;
    assert_eq!(sent, Err("egress.url.denied".into()));
    assert_eq!(rows, ["Denied egress:POST ftp://x/ / POST ftp://x/ 0/0"]);
    // A secret that these grants do not name is not there.
    let without: Vec<Grant> = desk.grants().into_iter().take(1).collect();
    assert_eq!(desk.send(without, desk.post("/echo")).await.0, Err("secret.denied".into()));
}
