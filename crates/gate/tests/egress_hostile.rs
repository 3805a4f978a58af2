//! Servers that misbehave, and guests that ask for what they may not have. Each costs its run an error and nothing more.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test says what is wrong by failing")]

mod origin;

use isolith_core::Limits;
use origin::Origin;
use origin::rules::{Rules, SECRET, call, client, client_with, code, get, headers, send};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The process's largest resident size so far, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn requests_that_would_confuse_a_server_are_refused() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    for (name, value) in [
        ("host", "internal"),
        ("transfer-encoding", "chunked"),
        ("content-length", "4"),
        ("connection", "upgrade"),
        ("expect", "100-continue"),
        ("proxy-authorization", "x"),
        ("authorization ", "x"),
        ("x-a", "1\r\nx-injected: 1"),
        ("x-a", "1\0"),
        ("x-a", "\u{100}"),
        ("x-http-method-override", "DELETE"),
    ] {
        let mut request = call("GET", &server.url("/echo"));
        request.headers = headers(&[(name, value)]);
        assert_eq!(code(send(&client, request, None, &rules).await), "egress.header.denied", "{name}");
    }
    for method in ["CONNECT", "TRACE", "PRI", "GET /x HTTP/1.1\r\n", ""] {
        let request = call(method, &server.url("/echo"));
        assert_eq!(code(send(&client, request, None, &rules).await), "egress.method.denied", "{method}");
    }
    for url in ["ftp://127.0.0.1/", "/x", "http://u:p@127.0.0.1/", "http://127.0.0.1:0/", "data:,x", "http://a..b/"] {
        assert_eq!(code(get(&client, url, &rules).await), "egress.url.denied", "{url}");
    }
    assert_eq!(code(get(&client, &server.url(&"/x".repeat(1 << 20)), &rules).await), "egress.url.denied");
    assert!(server.seen().is_empty() && rules.asked().is_empty());
    // Line breaks in a URL are none.
    get(&client, &server.url("/echo\r\nx-injected: 1"), &rules).await.unwrap();
    assert_eq!(server.seen()[0].header("x-injected"), None);
}

#[tokio::test]
async fn heads_without_end_are_cut() {
    let (server, rules) = (Origin::http().await, Rules::loopback());
    for path in
        ["/huge-headers", "/huge-status", "/many-headers?n=1000", "/soon", "/garbage", "/two-lengths", "/switch"]
    {
        let result = get(&client(), &server.url(path), &rules).await;
        assert_eq!(code(result), "egress.protocol", "{path}");
    }
    assert!(get(&client(), &server.url("/many-headers?n=200"), &rules).await.is_ok());
    for path in ["/trailers", "/bad-chunk"] {
        let result = get(&client(), &server.url(path), &rules).await;
        assert_eq!(code(result), "egress.protocol", "{path}");
    }
    for path in ["/reset", "/hang-up"] {
        assert_eq!(code(get(&client(), &server.url(path), &rules).await), "egress.reset", "{path}");
    }
    server.all_closed().await;
    assert!(server.state.sent.load(Ordering::SeqCst) < 64 << 20);
}

#[tokio::test]
async fn bodies_are_cut_at_the_limit_with_flat_memory() {
    let server = Origin::http().await;
    let limits = Limits { egress_response_bytes: 8 << 20, ..Limits::default() };
    let (client, rules) = (client_with(&limits), Rules::loopback());
    // What a run needs anyway, and what the test's own server needs.
    let _ = get(&client, &server.url("/br-bomb"), &rules).await;
    let before = peak();
    for path in ["/infinite", "/gzip-bomb", "/zstd-bomb", "/br-bomb"] {
        let mut body = client.fetch(call("GET", &server.url(path)), None, &rules).await.result.unwrap().body.unwrap();
        let mut read = 0;
        let error = loop {
            match body.read(256 << 10).await {
                Ok(bytes) if bytes.is_empty() => panic!("{path} has an end"),
                Ok(bytes) => read += bytes.len(),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code.as_deref(), Some("egress.response_too_large"), "{path}");
        assert!(read <= 8 << 20, "{path}: {read}");
        // It stays failed.
        assert_eq!(body.read(1).await.unwrap_err(), error);
    }
    let grown = peak() - before;
    assert!(grown < 32 << 20, "{grown} bytes more");
    assert_eq!(code(get(&client, &server.url("/zstd-window"), &rules).await), "egress.protocol");
    // What says that it is too large is not begun.
    let large = server.url(&format!("/big?n={}", (8 << 20) + 1));
    assert_eq!(
        client.fetch(call("GET", &large), None, &rules).await.result.unwrap_err().code.unwrap(),
        "egress.response_too_large"
    );
    let fits = server.url(&format!("/big?n={}", 8 << 20));
    assert_eq!(get(&client, &fits, &rules).await.unwrap().body.unwrap().len(), 8 << 20);
}

#[tokio::test]
async fn bodies_nobody_reads_wait_at_the_server() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let before = peak();
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(client.fetch(call("GET", &server.url("/infinite")), None, &rules).await.result.unwrap());
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(peak() - before < 64 << 20, "{} bytes more", peak() - before);
    drop(open);
    server.all_closed().await;
    let held = client.fetch(call("GET", &server.url("/infinite")), None, &rules).await.result.unwrap();
    drop(client);
    server.all_closed().await;
    drop(held);
}

#[tokio::test]
async fn silence_is_not_waited_for_for_ever() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let mut body = client.fetch(call("GET", &server.url("/slow")), None, &rules).await.result.unwrap().body.unwrap();
    assert_eq!(body.read(100).await.unwrap(), b"x");
    // From here on time passes when nothing else happens.
    tokio::time::pause();
    assert_eq!(body.read(100).await.unwrap_err().code.as_deref(), Some("egress.timeout"));
    tokio::time::resume();
    let waiting = tokio::spawn({
        let (url, client) = (server.url("/silent"), client);
        async move { code(get(&client, &url, &Rules::loopback()).await) }
    });
    while server.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    assert_eq!(waiting.await.unwrap(), "egress.timeout");
}

#[tokio::test]
async fn a_request_that_is_given_up_closes_its_connection() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    let (sender, receiver) = isolith_gate::egress::upload();
    let mut streamed = call("POST", &server.url("/early-silent"));
    streamed.streamed = true;
    for (request, upload) in [(call("GET", &server.url("/silent")), None), (streamed, Some(receiver))] {
        let before = server.seen().len();
        let arrived = async {
            while server.seen().len() == before {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = client.fetch(request, upload, &rules) => panic!("nobody answers"),
            () = arrived => {}
        }
        server.all_closed().await;
    }
    assert_eq!(sender.send(vec![1], true).await.unwrap_err().code.as_deref(), Some("egress.reset"));
}

#[tokio::test]
async fn secrets_that_servers_repeat_are_not_seen() {
    let server = Origin::http().await;
    let rules = Rules::with(&server, json!({ "bearer": "KEY" }));
    for path in ["/reflect", "/reflect-bytes", "/reflect-gzip"] {
        let response = get(&client(), &server.url(path), &rules).await.unwrap();
        assert!(response.text().contains("authorization: Bearer [redacted KEY]\n"), "{path}: {}", response.text());
        assert!(!response.text().contains("sk-live"), "{path}");
        assert_eq!((response.length, response.header("content-length")), (None, None), "{path}");
    }
    let response = get(&client(), &server.url("/reflect-header"), &rules).await.unwrap();
    assert_eq!(response.header("x-echo"), Some("you said Bearer [redacted KEY]"));
    assert_eq!(response.status_text, "Bearer [redacted KEY]");
    let mut request = call("GET", &server.url("/reflect"));
    request.headers = headers(&[("range", "bytes=0-20")]);
    let error = send(&client(), request.clone(), None, &rules).await.unwrap_err();
    assert_eq!(error.code.as_deref(), Some("egress.header.denied"));
    assert!(error.message.contains("redact = false"), "{}", error.message);
    // The operator may say that this server is to be believed.
    let mut grant = origin::rules::granted(&server, json!({ "bearer": "KEY" }));
    grant["redact"] = json!(false);
    let response = send(&client(), request, None, &Rules::new(json!([grant]))).await.unwrap();
    assert!(response.text().contains(SECRET));
}

#[tokio::test]
async fn a_proxy_is_used_only_when_told() {
    use isolith_gate::egress::{Net, NetOptions};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Origin::http().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = listener.local_addr().unwrap();
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = asked.clone();
    let task = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let text = String::from_utf8(head).unwrap();
            let to = text.split(' ').nth(1).unwrap().to_owned();
            log.lock().unwrap().push(text);
            stream.write_all(b"HTTP/1.1 200 Connected\r\nx: y\r\n\r\n").await.unwrap();
            let mut behind = tokio::net::TcpStream::connect(to).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stream, &mut behind).await });
        }
    });
    let options = NetOptions { proxy: Some(format!("http://u:p@{proxy}")), ca: None };
    let client = Arc::new(Net::new(options).unwrap()).client(&Limits::default());
    assert_eq!(get(&client, &server.url("/echo"), &Rules::loopback()).await.unwrap().status, 200);
    let head = asked.lock().unwrap().pop().unwrap();
    assert!(head.starts_with(&format!("CONNECT {} HTTP/1.1\r\n", server.address)), "{head}");
    assert!(head.contains("proxy-authorization: Basic dTpw\r\n"), "{head}");
    assert_eq!(server.seen()[0].header("proxy-authorization"), None);
    // A process whose environment names it: once left alone, once told to look there.
    for (setting, expected) in [("", 0), ("env", 1)] {
        let status = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_with_a_proxy_in_its_environment", "--ignored"])
            .env("HTTP_PROXY", format!("http://{proxy}"))
            .env("ISOLITH_CHILD_PROXY", setting)
            .env("ISOLITH_CHILD_URL", server.url("/echo"))
            .stdout(std::process::Stdio::null())
            .status()
            .await
            .unwrap();
        assert!(status.success());
        assert_eq!(asked.lock().unwrap().len(), expected, "{setting}");
    }
    assert_eq!(server.seen().len(), 3);
    task.abort();
}

#[tokio::test]
#[ignore = "run by the test above, in an environment that it makes"]
async fn child_with_a_proxy_in_its_environment() {
    use isolith_gate::egress::{Net, NetOptions};
    let Ok(setting) = std::env::var("ISOLITH_CHILD_PROXY") else { return };
    let proxy = Some(setting).filter(|setting| !setting.is_empty());
    let client = Arc::new(Net::new(NetOptions { proxy, ca: None }).unwrap()).client(&Limits::default());
    let url = std::env::var("ISOLITH_CHILD_URL").unwrap();
    assert_eq!(get(&client, &url, &Rules::loopback()).await.unwrap().status, 200);
}
