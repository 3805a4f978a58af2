//! Names, and the addresses they turn out to have.

#![cfg(feature = "test-net")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test says what is wrong by failing")]

mod origin;

use isolith_core::{CallOutcome, Limits};
use isolith_gate::egress::{Client, Net, NetOptions, TestNet};
use origin::Origin;
use origin::rules::{Rules, call, code, get};
use serde_json::{Value, json};
use std::sync::Arc;

/// Any public host, in the clear, on any port.
fn anywhere() -> Value {
    json!({ "kind": "egress", "host": "*", "scheme": ["http", "https"], "port": "*" })
}

fn mapped(resolve: Value, dial: Value) -> (Arc<TestNet>, Client) {
    let map = Arc::new(TestNet::from_json(&json!({ "resolve": resolve, "dial": dial }).to_string()).unwrap());
    let net = Arc::new(Net::mapped(NetOptions::default(), map.clone()).unwrap());
    (map, net.client(&Limits::default()))
}

#[tokio::test]
async fn the_checked_address_is_dialled_and_the_name_kept() {
    let server = Origin::http().await;
    let address = server.address.to_string();
    let (map, client) = mapped(
        // The second answer would lead to this machine.
        json!({ "api.example": [["203.0.113.5"], ["127.0.0.1"]], "six.example": ["CNAME x", "2001:db8::1"] }),
        json!({ "203.0.113.5:80": address, "[2001:db8::1]:80": address }),
    );
    let rules = Rules::new(json!([anywhere()]));
    for _ in 0..3 {
        get(&client, "http://api.example/close", &rules).await.unwrap();
    }
    assert_eq!((map.lookups("api.example"), map.refused()), (1, 0));
    assert_eq!(server.seen()[0].header("host"), Some("api.example"));
    get(&client, "http://six.example/", &rules).await.unwrap();
    // When its time is over it is asked again, and what it says then is checked again.
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    tokio::time::resume();
    assert_eq!(code(get(&client, "http://api.example/", &rules).await), "egress.address.denied");
    assert_eq!((map.lookups("api.example"), map.refused(), server.seen().len()), (2, 0, 4));
}

#[tokio::test]
async fn one_private_address_refuses_the_name() {
    let (map, client) = mapped(
        json!({
            "loop.example": ["127.0.0.1"],
            "private.example": ["10.0.0.1"],
            "mapped.example": ["::ffff:127.0.0.1"],
            "mixed.example": ["203.0.113.5", "192.168.0.1"],
            "chain.example": ["CNAME internal.corp", "169.254.169.254"],
            "translated.example": ["64:ff9b::7f00:1"],
        }),
        json!({}),
    );
    let rules = Rules::new(json!([anywhere()]));
    for host in ["loop", "private", "mapped", "mixed", "chain", "translated"] {
        let fetched = client.fetch(call("GET", &format!("http://{host}.example/secret?q=1")), None, &rules).await;
        let error = fetched.result.unwrap_err();
        assert_eq!(
            (error.name.as_str(), error.code.as_deref()),
            ("DeniedError", Some("egress.address.denied")),
            "{host}"
        );
        assert!(!error.message.contains("q=1"), "{}", error.message);
        assert_eq!((fetched.hops.len(), fetched.hops[0].outcome), (1, CallOutcome::Denied));
        assert!(fetched.hops[0].grant.starts_with("egress:"), "{:?}", fetched.hops[0]);
    }
    for host in ["localhost", "LOCALHOST", "x.localhost"] {
        let result = code(get(&client, &format!("http://{host}/"), &rules).await);
        assert!(result.ends_with(".denied"), "{host}: {result}");
    }
    assert_eq!((map.refused(), map.lookups("localhost")), (0, 0));
}

#[tokio::test]
async fn names_that_are_not_granted_are_not_looked_up() {
    let (map, client) = mapped(json!({ "told.example": ["203.0.113.5"] }), json!({}));
    let rules = Rules::new(json!([{ "kind": "egress", "host": "api.example" }]));
    assert_eq!(code(get(&client, "https://told.example/", &rules).await), "egress.denied");
    assert_eq!(map.lookups("told.example"), 0);
    assert_eq!(code(get(&client, "https://api.example/", &rules).await), "egress.dns");
}

#[tokio::test]
async fn what_is_not_in_the_map_is_refused_and_written_down() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let map = json!({ "resolve": { "a.example": ["203.0.113.5"] }, "dial": {}, "log": log.path() });
    let map = Arc::new(TestNet::from_json(&map.to_string()).unwrap());
    let client = Arc::new(Net::mapped(NetOptions::default(), map.clone()).unwrap()).client(&Limits::default());
    let rules = Rules::new(json!([anywhere(), origin::rules::loopback()]));
    assert_eq!(code(get(&client, "http://a.example/", &rules).await), "egress.connect");
    assert_eq!(code(get(&client, "http://127.0.0.1:9/", &rules).await), "egress.connect");
    assert_eq!(map.refused(), 2);
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "203.0.113.5:80\n127.0.0.1:9\n");
}

#[tokio::test]
async fn lookups_and_connections_are_not_waited_for_for_ever() {
    let (_, client) =
        mapped(json!({ "never.example": "TIMEOUT", "later.example": [["203.0.113.5"], "TIMEOUT"] }), json!({}));
    tokio::time::pause();
    let rules = Rules::new(json!([anywhere()]));
    assert_eq!(code(get(&client, "http://never.example/", &rules).await), "egress.timeout");
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let server = Origin::http().await;
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let (_, client) = mapped(
        json!({ "a.example": ["203.0.113.5", "203.0.113.6"], "b.example": ["203.0.113.5"] }),
        json!({ "203.0.113.5:80": closed.to_string(), "203.0.113.6:80": server.address.to_string() }),
    );
    let rules = Rules::new(json!([anywhere()]));
    assert_eq!(get(&client, "http://a.example/", &rules).await.unwrap().status, 200);
    assert_eq!(code(get(&client, "http://b.example/", &rules).await), "egress.connect");
}
