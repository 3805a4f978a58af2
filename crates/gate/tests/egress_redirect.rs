//! Redirects: followed by the rules, admitted from the start, and without what was meant for another.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test says what is wrong by failing")]

mod origin;

use isolith_core::CallOutcome;
use isolith_gate::egress::upload;
use origin::Origin;
use origin::rules::{Rules, SECRET, call, client, code, get, granted, headers, send, whole};
use serde_json::json;

fn redirect(from: &Origin, code: u16, to: &str) -> String {
    let to: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
    from.url(&format!("/redirect?code={code}&to={to}"))
}

#[tokio::test]
async fn methods_and_bodies_follow_the_rules_of_fetch() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    for (status, method, then, body) in [
        (301, "POST", "GET", ""),
        (302, "POST", "GET", ""),
        (303, "POST", "GET", ""),
        (307, "POST", "POST", "hello"),
        (308, "POST", "POST", "hello"),
        (301, "PUT", "PUT", "hello"),
        (302, "PATCH", "PATCH", "hello"),
        (303, "PUT", "GET", ""),
    ] {
        let mut request = call(method, &redirect(&server, status, "/echo#x"));
        request.headers = headers(&[("content-type", "text/plain"), ("x-a", "1"), ("authorization", "guest")]);
        request.body = Some(b"hello".to_vec());
        let response = send(&client, request, None, &rules).await.unwrap();
        assert_eq!((response.url, response.redirected), (server.url("/echo"), true));
        let seen = server.seen().pop().unwrap();
        assert_eq!((seen.method.as_str(), seen.body.as_slice()), (then, body.as_bytes()), "{status} {method}");
        let typed = (!body.is_empty()).then_some("text/plain");
        assert_eq!((seen.header("content-type"), seen.header("x-a")), (typed, Some("1")), "{status} {method}");
        // It is the same origin: what the guest says of itself stays.
        assert_eq!(seen.header("authorization"), Some("guest"));
    }
    let response = send(&client, call("HEAD", &redirect(&server, 303, "/echo")), None, &rules).await.unwrap();
    assert_eq!((server.seen().pop().unwrap().method.as_str(), response.body), ("HEAD", None));
    assert_eq!(code(get(&client, &server.url("/loop"), &rules).await), "egress.redirect");
    assert_eq!(server.seen().iter().filter(|seen| seen.path == "/loop").count(), 11);
}

#[tokio::test]
async fn streamed_bodies_are_not_sent_twice() {
    let (server, client, rules) = (Origin::http().await, client(), Rules::loopback());
    for (status, outcome) in [(307, "egress.redirect"), (302, "egress.redirect"), (303, "no error")] {
        let (sender, receiver) = upload();
        let mut request = call("POST", &redirect(&server, status, "/echo"));
        request.streamed = true;
        let (fetched, sent) =
            tokio::join!(client.fetch(request, Some(receiver), &rules), sender.send(b"x".to_vec(), true));
        sent.unwrap();
        assert_eq!(code(whole(fetched).await), outcome, "{status}");
    }
}

#[tokio::test]
async fn what_the_guest_says_of_itself_stays_with_the_origin() {
    let (one, two) = (Origin::http().await, Origin::http().await);
    let mut request = call("GET", &redirect(&one, 302, &two.url("/echo")));
    request.headers = headers(&[("authorization", "guest"), ("cookie", "a=b"), ("x-a", "1")]);
    send(&client(), request, None, &Rules::loopback()).await.unwrap();
    assert_eq!(one.seen()[0].header("authorization"), Some("guest"));
    let seen = &two.seen()[0];
    assert_eq!((seen.header("authorization"), seen.header("cookie")), (None, None));
    assert_eq!(seen.header("x-a"), Some("1"));
    assert_eq!(seen.header("host"), Some(two.address.to_string().as_str()));
}

#[tokio::test]
async fn a_credential_goes_to_its_own_grant_only() {
    let (one, two) = (Origin::http().await, Origin::http().await);
    let plain = json!({ "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": two.address.port() });
    for credential in [json!({ "bearer": "KEY" }), json!({ "query": "key", "value": "${KEY}" })] {
        let rules = Rules::new(json!([granted(&one, credential), plain]));
        // To another port and back again: only where it is granted.
        let back = redirect(&two, 302, &one.url("/reflect"));
        let response = get(&client(), &redirect(&one, 302, &back), &rules).await.unwrap();
        assert!(!response.text().contains(SECRET) && response.text().contains("[redacted KEY]"));
        assert_eq!(response.url, one.url("/reflect"));
        let told = |seen: &origin::Seen| format!("{seen:?}").contains("sk-live");
        assert!(one.seen().iter().all(told), "{:?}", one.seen());
        assert!(!two.seen().iter().any(told), "{:?}", two.seen());
    }
}

#[tokio::test]
async fn a_secret_in_the_query_is_not_carried_along() {
    let (one, two) = (Origin::http().await, Origin::http().await);
    let plain = json!({ "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": two.address.port() });
    let rules = Rules::new(json!([granted(&one, json!({ "query": "key", "value": "${KEY}" })), plain]));
    // A server that sends the client on with its whole query.
    let response = get(&client(), &one.url(&format!("/keep-query?to={}", two.url("/echo"))), &rules).await.unwrap();
    assert!(!format!("{:?}", two.seen()).contains("sk-live"), "{:?}", two.seen());
    assert!(!response.url.contains("sk-live") && !response.url.contains("key="), "{}", response.url);
    // One that hides it under another name.
    let hidden = one.url(&format!("/redirect?code=302&to={}", two.url("/echo%3Fother=sk-live%252F41%252BZz%2526q")));
    let error = get(&client(), &hidden, &rules).await.unwrap_err();
    assert_eq!(error.code.as_deref(), Some("egress.redirect"));
    assert_eq!(two.seen().len(), 1);
    // On the same server it stays, and is not shown.
    let same = one.url("/redirect?code=302&to=/echo%3Fother=sk-live%252F41%252BZz%2526q");
    let response = get(&client(), &same, &rules).await.unwrap();
    assert_eq!(response.url, one.url("/echo?other=[redacted KEY]"));
}

#[tokio::test]
async fn each_hop_is_admitted_from_the_start() {
    let (one, two) = (Origin::http().await, Origin::http().await);
    let port = one.address.port();
    let rules = Rules::new(json!([
        { "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": port, "path": ["/redirect", "/ok"] }
    ]));
    let denied = two.url("/");
    for to in [
        denied.as_str(),
        &format!("//{}/", two.address),
        &format!("http://[::ffff:7f00:1]:{}/", two.address.port()),
        "/secret",
        "/ok/../secret",
        "http://169.254.169.254/latest/meta-data/",
    ] {
        let fetched = client().fetch(call("GET", &redirect(&one, 302, to)), None, &rules).await;
        let error = fetched.result.as_ref().unwrap_err();
        assert_eq!((error.name.as_str(), error.code.as_deref()), ("DeniedError", Some("egress.denied")), "{to}");
        let outcomes: Vec<CallOutcome> = fetched.hops.iter().map(|hop| hop.outcome).collect();
        assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::Denied], "{to}");
        assert!(fetched.hops[1].grant.starts_with("egress:"), "{:?}", fetched.hops[1]);
    }
    for to in ["data:text/plain,x", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "file:///etc/passwd", "http://"] {
        let fetched = client().fetch(call("GET", &redirect(&one, 302, to)), None, &rules).await;
        assert_eq!(fetched.hops.last().unwrap().outcome, CallOutcome::Denied, "{to}");
        assert_eq!(fetched.result.unwrap_err().code.as_deref(), Some("egress.url.denied"), "{to}");
    }
    assert!(two.seen().is_empty());
    assert!(one.seen().iter().all(|seen| seen.path.starts_with("/redirect")));
    // A body that would be sent again goes nowhere either.
    let mut request = call("POST", &redirect(&one, 307, &denied));
    request.body = Some(b"payload".to_vec());
    assert_eq!(code(send(&client(), request, None, &rules).await), "egress.denied");
    assert!(two.seen().is_empty());
}
