//! A client that sends what no client of ours would.

use super::*;
use futures_util::{SinkExt as _, StreamExt as _};
use isolith_core::wire::{Event, MESSAGE_BYTES_MAX, request};
use std::io::{Read as _, Write as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

async fn open(server: &Served) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let url = format!("ws://{}/v1/isolates", server.address);
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    assert!(matches!(next(&mut socket).await, Some((_, Event::Hello { .. }))));
    socket
}

/// The next message; nothing when the server has closed.
async fn next(socket: &mut WebSocketStream<TcpStream>) -> Option<(u64, Event)> {
    loop {
        match tokio::time::timeout(PATIENCE, socket.next()).await.unwrap() {
            Some(Ok(Message::Binary(bytes))) => return Some(Event::read(&bytes, "test").unwrap()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => return None,
        }
    }
}

fn a_start(isolate: u64, code: &str) -> Vec<u8> {
    request::start(isolate, &program(code), &start(Limits::default()).0)
}

#[test]
fn what_does_not_fit_the_conversation_ends_it_and_nothing_else() {
    let folder = folder();
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let mut neighbour = open(&server).await;
        neighbour.send(Message::Binary(a_start(1, "await tools.echo(); return 1").into())).await.unwrap();
        assert!(matches!(next(&mut neighbour).await, Some((1, Event::Started { .. }))));
        let endless = a_start(1, "while (true) {}");
        let advance = request::advance(1, &turn(&[]));
        let mut cut = endless.clone();
        cut.truncate(endless.len() / 2);
        let binary = |message: &[u8]| Message::Binary(message.to_vec().into());
        let rows: [(&str, Vec<Message>); 8] = [
            ("text", vec![Message::Text("{}".into())]),
            ("nothing", vec![binary(&[])]),
            ("noise", vec![binary(&[255; 5_000])]),
            ("half a message", vec![binary(&cut)]),
            ("a kind that is the server's", vec![binary(&[130; 50])]),
            ("a number twice", vec![binary(&endless), binary(&endless)]),
            ("a number that went by", vec![binary(&request::resume(9, &[])), binary(&endless)]),
            ("noise after a request", vec![binary(&advance), binary(&[0])]),
        ];
        for (what, messages) in rows {
            let mut socket = open(&server).await;
            for message in messages {
                let _ = socket.send(message).await;
            }
            let mut last = Some(());
            for _ in 0..4 {
                if next(&mut socket).await.is_none() {
                    last = None;
                    break;
                }
            }
            assert!(last.is_none(), "{what}: it goes on");
        }
        // Two steps at once.
        let mut socket = open(&server).await;
        socket.send(binary(&endless)).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((1, Event::Started { .. }))));
        socket.send(binary(&advance)).await.unwrap();
        socket.send(binary(&advance)).await.unwrap();
        assert!(next(&mut socket).await.is_none());
        neighbour.send(binary(&advance)).await.unwrap();
        assert!(matches!(next(&mut neighbour).await, Some((1, Event::Call(_)))));
        assert!(matches!(next(&mut neighbour).await, Some((1, Event::Waiting { .. }))));
    });
}

#[test]
fn a_frame_is_refused_by_its_announced_length() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let head = format!(
        "GET /v1/isolates HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.address
    );
    for announced in [MESSAGE_BYTES_MAX as u64 + 1, 1 << 40, u64::MAX >> 1] {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101");
        let began = Instant::now();
        stream.write_all(&[&[0x82, 0xff], &announced.to_be_bytes()[..], &[0; 4]].concat()).unwrap();
        // It closes without waiting for any of it.
        let _ = stream.read_to_end(&mut Vec::new());
        assert!(began.elapsed() < PATIENCE / 6, "{announced}");
    }
    assert_eq!(server.get("/healthz", "").status, 200);
}

#[test]
fn what_is_not_there_is_said_to_be_gone() {
    let folder = folder();
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let mut socket = open(&server).await;
        let send = |message: Vec<u8>| Message::Binary(message.into());
        socket.send(send(request::advance(7, &turn(&[])))).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((7, Event::Failed(EngineError::Ended)))));
        socket.send(send(request::suspend(7))).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((7, Event::Failed(EngineError::Ended)))));
        socket.send(send(request::drop(7))).await.unwrap();
        socket.send(send(request::resume(8, &[1; 100]))).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((8, Event::Failed(EngineError::Suspended(_))))));
        // Before its first step there is no state.
        socket.send(send(a_start(9, "return 1"))).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((9, Event::Started { .. }))));
        socket.send(send(request::suspend(9))).await.unwrap();
        assert!(matches!(next(&mut socket).await, Some((9, Event::Failed(EngineError::Ended)))));
    });
}

#[test]
fn one_connection_has_so_many_isolates_and_no_more() {
    let folder = folder();
    let server = serve(&folder, &["--live-runs", "1000", "--live-runs-per-caller", "1000"]);
    runtime().block_on(async {
        let mut socket = open(&server).await;
        for isolate in 1..=300 {
            socket.feed(Message::Binary(a_start(isolate, "return 1").into())).await.unwrap();
        }
        socket.flush().await.unwrap();
        let (mut begun, mut busy) = (0, 0);
        for _ in 0..300 {
            match next(&mut socket).await.unwrap().1 {
                Event::Started { .. } => begun += 1,
                Event::Failed(EngineError::Busy { .. }) => busy += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((begun, busy), (256, 44));
    });
}
