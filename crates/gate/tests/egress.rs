//! Requests that are granted, to servers that behave.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test says what is wrong by failing")]

mod origin;

use isolith_core::{CallOutcome, Limits, Redirect};
use isolith_gate::egress::{Net, NetOptions, upload};
use origin::rules::{Rules, SECRET, call, client, client_with, code, get, granted, headers, send, whole};
use origin::{Authority, Origin};
use serde_json::json;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn a_request_arrives_as_it_was_made() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let mut request = call("post", &server.url("/echo?a=%20b#part"));
    request.headers = headers(&[("x-a", "caf\u{e9}"), ("content-type", "text/plain")]);
    request.body = Some(b"hello".to_vec());
    let fetched = client.fetch(request, None, &rules).await;
    let report = fetched.hops[0].clone();
    let response = whole(fetched).await.unwrap();
    assert_eq!((response.status, response.status_text.as_str(), response.redirected), (200, "OK", false));
    assert_eq!(response.url, server.url("/echo?a=%20b"));
    assert_eq!(response.length, Some(response.body.as_ref().unwrap().len() as u64));
    assert_eq!(response.header("content-type"), Some("text/plain"));
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/echo?a=%20b"));
    assert_eq!(seen.body, b"hello");
    for (name, value) in [
        ("host", server.address.to_string().as_str()),
        ("content-length", "5"),
        ("x-a", "caf\u{e9}"),
        ("accept", "*/*"),
        ("accept-encoding", "gzip, br, zstd"),
        ("user-agent", "isolith/0.1.0"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert_eq!(report.what, format!("POST {}", server.url("/echo")));
    assert_eq!((report.host.as_str(), report.outcome, report.bytes_out), ("127.0.0.1", CallOutcome::Ok, 5));
    assert_eq!(report.grant, rules_grant(&rules));
}

fn rules_grant(_: &Rules) -> String {
    isolith_core::Grant::from_value(&origin::rules::loopback(), "").unwrap().to_string()
}

#[tokio::test]
async fn heads_and_empty_bodies() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let response = get(&client, &server.url("/status?code=404"), &rules).await.unwrap();
    assert_eq!((response.status, response.status_text.as_str()), (404, "Its Own Words"));
    assert_eq!(response.body, Some(Vec::new()));
    let response = get(&client, &server.url("/empty"), &rules).await.unwrap();
    assert_eq!((response.status, response.body), (204, None));
    let response = get(&client, &server.url("/latin1"), &rules).await.unwrap();
    assert_eq!(response.header("x-name"), Some("caf\u{e9}"));
    let response = get(&client, &server.url("/set-cookie"), &rules).await.unwrap();
    let cookies: Vec<_> = response.headers.iter().filter(|(name, _)| name == "set-cookie").collect();
    assert_eq!(cookies.len(), 2);
    // Nobody keeps them.
    get(&client, &server.url("/echo"), &rules).await.unwrap();
    assert_eq!(server.seen().last().unwrap().header("cookie"), None);
    let response = get(&client, &server.url("/soon-enough"), &rules).await.unwrap();
    assert_eq!(response.text(), "at last");
    let response = get(&client, &server.url("/some-trailers"), &rules).await.unwrap();
    assert_eq!((response.text().as_str(), response.header("x-trailer")), ("x", None));
    let response = get(&client, &server.url("/refresh"), &rules).await.unwrap();
    assert_eq!((response.redirected, server.seen().last().unwrap().path.as_str()), (false, "/refresh"));
}

#[tokio::test]
async fn compressed_bodies_are_decompressed() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    for path in ["/gzip", "/br", "/zstd", "/deflate", "/bare-deflate", "/twice"] {
        let response = get(&client, &server.url(path), &rules).await.unwrap();
        assert_eq!(response.text(), "a text that is compressed, and again: a text that is compressed", "{path}");
        assert_eq!((response.header("content-encoding"), response.header("content-length")), (None, None), "{path}");
        assert_eq!(response.length, None, "{path}");
    }
    assert_eq!(get(&client, &server.url("/empty-gzip"), &rules).await.unwrap().text(), "");
    let response = get(&client, &server.url("/unknown-coding"), &rules).await.unwrap();
    assert_eq!((response.header("content-encoding"), response.text().len()), (Some("utf-8"), 63));
    assert_eq!(code(get(&client, &server.url("/thrice"), &rules).await), "egress.protocol");
    assert_eq!(code(get(&client, &server.url("/not-gzip"), &rules).await), "egress.protocol");
    // A part of something compressed would be of no use.
    let mut request = call("GET", &server.url("/echo"));
    request.headers = headers(&[("range", "bytes=0-1")]);
    send(&client, request, None, &rules).await.unwrap();
    assert_eq!(server.seen().last().unwrap().header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn connections_are_kept_within_a_run_and_not_between_runs() {
    let (server, rules) = (Origin::http().await, Rules::loopback());
    let one = client();
    for _ in 0..3 {
        get(&one, &server.url("/echo"), &rules).await.unwrap();
    }
    assert_eq!(server.connections(), 1);
    get(&client(), &server.url("/echo"), &rules).await.unwrap();
    assert_eq!(server.connections(), 2);
    // A server may close what it promised to keep.
    for _ in 0..3 {
        assert_eq!(get(&one, &server.url("/close-quietly"), &rules).await.unwrap().text(), "bye");
        server_noticed().await;
    }
    get(&one, &server.url("/close"), &rules).await.unwrap();
    get(&one, &server.url("/echo"), &rules).await.unwrap();
    drop(one);
    server.all_closed().await;
}

/// Lets what the server did reach the client.
async fn server_noticed() {
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_body_goes_both_ways_piece_by_piece() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let (sender, receiver) = upload();
    let mut request = call("POST", &server.url("/upload"));
    request.streamed = true;
    let fetched = client.fetch(request, Some(receiver), &rules);
    let first = async {
        sender.send(b"one ".to_vec(), false).await.unwrap();
    };
    let (fetched, ()) = tokio::join!(fetched, first);
    let mut body = fetched.result.unwrap().body.unwrap();
    assert_eq!(body.read(100).await.unwrap(), b"one ");
    sender.send(b"two ".to_vec(), false).await.unwrap();
    assert_eq!(body.read(2).await.unwrap(), b"tw");
    assert_eq!(body.read(100).await.unwrap(), b"o ");
    sender.send(b"three".to_vec(), true).await.unwrap();
    assert_eq!(body.read(100).await.unwrap(), b"three");
    assert_eq!(body.read(100).await.unwrap(), b"");
    assert_eq!(body.read(100).await.unwrap(), b"");
}

#[tokio::test]
async fn a_server_that_takes_nothing_holds_the_guest_back() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let (sender, receiver) = upload();
    let mut request = call("POST", &server.url("/early-deaf"));
    request.streamed = true;
    let writing = async {
        let mut taken = 0usize;
        loop {
            let piece = sender.send(vec![b'x'; 1 << 20], false);
            match tokio::time::timeout(std::time::Duration::from_millis(500), piece).await {
                Ok(sent) => sent.unwrap(),
                Err(_) => return taken,
            }
            taken += 1 << 20;
        }
    };
    tokio::select! {
        _ = client.fetch(request, Some(receiver), &rules) => panic!("nobody answers"),
        // What the sockets hold, and our few pieces.
        taken = writing => assert!(taken <= 32 << 20, "{taken} bytes wait somewhere"),
    }
}

#[tokio::test]
async fn an_upload_that_breaks_off_is_not_taken_for_whole() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let (sender, receiver) = upload();
    let mut request = call("POST", &server.url("/upload"));
    request.streamed = true;
    let (fetched, sent) =
        tokio::join!(client.fetch(request, Some(receiver), &rules), sender.send(b"half".to_vec(), false));
    sent.unwrap();
    let mut body = fetched.result.unwrap().body.unwrap();
    assert_eq!(body.read(100).await.unwrap(), b"half");
    drop(sender);
    assert_eq!(body.read(100).await.unwrap_err().code.as_deref(), Some("egress.reset"));
    let ended = async {
        loop {
            if let Some(how) = *server.state.upload.lock().unwrap() {
                return how;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    assert_eq!(tokio::time::timeout(std::time::Duration::from_secs(30), ended).await.unwrap(), "broken off");
}

#[tokio::test]
async fn uploads_are_bounded_and_end_with_their_request() {
    let (sender, receiver) = upload();
    let error = sender.send(vec![0; (256 << 20) + 1], true).await.unwrap_err();
    assert_eq!(error.code.as_deref(), Some("egress.limit"));
    drop(receiver);
    let (sender, receiver) = upload();
    drop(receiver);
    assert_eq!(sender.send(vec![0], true).await.unwrap_err().code.as_deref(), Some("egress.reset"));
}

#[tokio::test]
async fn http2_is_spoken_where_the_server_does() {
    let authority = Authority::new();
    let (both, old) = (
        Origin::https(&authority, "127.0.0.1", &["h2", "http/1.1"]).await,
        Origin::https(&authority, "127.0.0.1", &["http/1.1"]).await,
    );
    let options = NetOptions { ca: Some(authority.file.path().to_owned()), ..NetOptions::default() };
    let client = Arc::new(Net::new(options).unwrap()).client(&Limits::default());
    let rules = Rules::new(json!([
        { "kind": "egress", "host": "127.0.0.1", "port": "*", "credential": { "bearer": "KEY" } }
    ]));
    let url = |server: &Origin, path: &str| format!("https://{}{path}", server.address);
    let mut request = call("POST", &url(&both, "/x?y"));
    request.body = Some(b"hello".to_vec());
    let response = send(&client, request, None, &rules).await.unwrap();
    assert_eq!((response.status, response.status_text.as_str()), (200, ""));
    assert!(response.text().contains("bearer") || response.text().contains("Bearer [redacted KEY]"));
    let seen = both.seen().remove(0);
    assert_eq!((seen.path.as_str(), seen.body.as_slice()), ("/x?y", b"hello".as_slice()));
    assert_eq!(seen.header(":authority"), Some(both.address.to_string().as_str()));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!((seen.header("host"), seen.header("content-length")), (None, Some("5")));
    // Many at once share one connection, however they begin.
    let urls: Vec<String> = (0..2).map(|i| url(&both, &format!("/{i}"))).collect();
    let big = url(&both, "/big");
    let (a, b, c) =
        tokio::join!(get(&client, &urls[0], &rules), get(&client, &urls[1], &rules), get(&client, &big, &rules));
    assert_eq!((a.unwrap().status, b.unwrap().status, c.unwrap().body.unwrap().len()), (200, 200, 3 << 20));
    assert_eq!(both.connections(), 1);
    assert_eq!(code(get(&client, &url(&both, "/flood"), &rules).await), "egress.protocol");
    let response = get(&client, &url(&old, "/echo"), &rules).await.unwrap();
    assert_eq!((response.status, response.status_text.as_str()), (200, "OK"));
    drop(client);
    both.all_closed().await;
}

#[tokio::test]
async fn servers_that_cannot_be_trusted_get_nothing() {
    let authority = Authority::new();
    let server = Origin::https(&authority, "other.example", &["http/1.1"]).await;
    let rules = Rules::loopback();
    let url = format!("https://{}/echo", server.address);
    let error = get(&client(), &url, &rules).await.unwrap_err();
    assert_eq!((error.name.as_str(), error.code.as_deref()), ("TypeError", Some("egress.tls")));
    let options = NetOptions { ca: Some(authority.file.path().to_owned()), ..NetOptions::default() };
    let client = Arc::new(Net::new(options).unwrap()).client(&Limits::default());
    assert_eq!(code(get(&client, &url, &rules).await), "egress.tls");
    assert!(server.seen().is_empty());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}/", listener.local_addr().unwrap());
    let (result, ()) = tokio::join!(get(&client, &plain, &rules), async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    assert_eq!(code(result), "egress.tls");
    let missing = NetOptions { ca: Some("/nowhere.pem".into()), ..NetOptions::default() };
    assert!(Net::new(missing).err().unwrap().to_string().contains("/nowhere.pem"));
}

#[tokio::test]
async fn the_number_of_requests_is_limited() {
    let server = Origin::http().await;
    let client = client_with(&Limits { egress_requests: 3, ..Limits::default() });
    let rules = Rules::loopback();
    let to = server.url("/redirect?code=302&to=/echo");
    get(&client, &to, &rules).await.unwrap();
    assert_eq!(code(get(&client, &to, &rules).await), "egress.limit");
    assert_eq!(code(get(&client, &server.url("/echo"), &rules).await), "egress.limit");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn credentials_of_every_kind_are_added() {
    let server = Origin::http().await;
    for (credential, name, value) in [
        (json!({ "header": "X-Key", "value": "k ${KEY}" }), "x-key", format!("k {SECRET}")),
        (json!({ "bearer": "KEY" }), "authorization", format!("Bearer {SECRET}")),
        (json!({ "basic": "${USER}", "password": "${KEY}" }), "authorization", "Basic bWU6c2stbGl2ZS80MStaeiZx".into()),
    ] {
        let rules = Rules::new(json!([granted(&server, credential.clone())]));
        let mut request = call("GET", &server.url("/reflect"));
        request.headers = headers(&[(name, "the guest's")]);
        let response = send(&client(), request, None, &rules).await.unwrap();
        let seen = server.seen().pop().unwrap();
        let values: Vec<_> = seen.headers.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect();
        assert_eq!(values, [value.as_str()], "{credential}");
        let text = response.text();
        assert!(!text.contains(SECRET) && !text.contains("c2stbGl2ZS80MStaeiZx"), "{text}");
        assert!(text.contains("[redacted KEY]"), "{text}");
    }
    let rules = Rules::with(&server, json!({ "query": "api_key", "value": "${KEY}" }));
    let response = get(&client(), &server.url("/reflect?api_key=guest&a=1"), &rules).await.unwrap();
    assert_eq!(server.seen().pop().unwrap().path, "/reflect?a=1&api_key=sk-live%2F41%2BZz%26q");
    assert_eq!(response.url, server.url("/reflect?api_key=guest&a=1"));
    assert!(response.text().contains("GET /reflect?a=1&api_key=[redacted KEY]"), "{}", response.text());
    let keys = json!({ "access_key": "USER", "secret_key": "KEY", "region": "r", "service": "s3" });
    let rules = Rules::with(&server, json!({ "sigv4": keys }));
    get(&client(), &server.url("/a"), &rules).await.unwrap();
    let seen = server.seen().pop().unwrap();
    assert!(seen.header("authorization").unwrap().starts_with("AWS4-HMAC-SHA256 Credential=me/20150830/r/s3/"));
    assert_eq!(seen.header("x-amz-date"), Some("20150830T123600Z"));
}

#[tokio::test]
async fn redirects_can_be_left_alone() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let to = server.url("/redirect?code=302&to=/echo");
    let mut request = call("GET", &to);
    request.redirect = Redirect::Manual;
    let response = send(&client, request.clone(), None, &rules).await.unwrap();
    assert_eq!((response.status, response.header("location"), response.redirected), (302, Some("/echo"), false));
    request.redirect = Redirect::Error;
    let error = send(&client, request, None, &rules).await.unwrap_err();
    assert_eq!(error.code.as_deref(), Some("egress.redirect"));
    assert!(!error.message.contains("to="), "{}", error.message);
    assert_eq!(server.seen().len(), 2);
}
