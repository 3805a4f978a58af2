//! What an operator sets up: a file of settings, TLS, the rate of a key, how long things are kept.

use super::support::certificate::{pem, trusting};
use super::{command, folder, key, serve};
use serde_json::json;
use std::io::{Read, Write};
use std::time::Duration;
use tokio_rustls::rustls::{ClientConnection, StreamOwned};

/// What `isolith serve` says before it ends without having served.
fn refused(place: &super::support::Folder, args: &[&str]) -> String {
    let mut command = command(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
    let output = command.env("ISOLITH_DATA", place.path().join("data")).current_dir(place.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn settings_come_from_a_file_and_flags_count_more() {
    let place = folder();
    place.write("policy.toml", "grants = [\"kv:cache\"]\n");
    // Nobody listens to what is not an address: the flag must have won.
    place.write(
        "server.toml",
        "listen = \"192.0.2.1:1\"\npolicy = \"policy.toml\"\nhost = \"isolith.example\"\nhold = \"5ms\"\n",
    );
    let server = serve(&place, &["--config", "server.toml"]);
    let ran = server.post("/v1/runs", "", &json!({ "program": "return 1", "grants": ["kv:cache", "kv:other"] })).json();
    assert_eq!((&ran["grants"], &ran["narrowed"][0]["requested"]), (&json!(["kv:cache"]), &json!("kv:other")), "{ran}");
    let named = server.raw(b"GET /healthz HTTP/1.1\r\nhost: isolith.example\r\nconnection: close\r\n\r\n").unwrap();
    let strange = server.raw(b"GET /healthz HTTP/1.1\r\nhost: other.example\r\nconnection: close\r\n\r\n").unwrap();
    assert_eq!((named.status, strange.status), (200, 403));
}

#[test]
fn a_file_of_settings_that_cannot_be_used_is_said_with_its_place() {
    let place = folder();
    for (text, says) in [
        ("lisen = \"127.0.0.1:0\"\n", "there is no key `lisen`: did you mean `listen`?"),
        ("hold = \"soon\"\n", "`hold`"),
        ("live_runs = 0\n", "`live_runs`: write a number from 1 to 10000"),
        ("listen = \"here\"\n", "write an address such as `127.0.0.1:4747`"),
        ("host = [1]\n", "write a list of names"),
        ("policy = \"gone.toml\"\n", "gone.toml"),
        ("hold", "server.toml"),
    ] {
        place.write("server.toml", text);
        let stderr = refused(&place, &["--config", "server.toml"]);
        assert!(stderr.contains(says) && stderr.contains("hint"), "{text}: {stderr}");
    }
}

#[test]
fn it_speaks_tls_with_the_operators_certificate() {
    let place = folder();
    let (cert, private) = pem(vec!["localhost".into()]);
    place.write("cert.pem", &cert);
    place.write("key.pem", &private);
    for (args, says) in [
        (&["--tls-cert", "cert.pem"][..], "give both `--tls-cert` and `--tls-key`"),
        (&["--tls-cert", "cert.pem", "--tls-key", "gone.pem"], "gone.pem"),
        (&["--tls-cert", "cert.pem", "--tls-key", "cert.pem"], "cert.pem"),
    ] {
        let stderr = refused(&place, args);
        assert!(stderr.contains(says), "{stderr}");
    }
    let server = serve(&place, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let client = ClientConnection::new(trusting(&cert), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(client, server.connect());
    let body = json!({ "program": "return 6 * 7" }).to_string();
    write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: localhost:{}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", server.address.port(), body.len()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"value\":42"), "{answer}");
    // Who speaks without TLS is told nothing, and nobody else is held up.
    assert!(server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").is_none());
}

#[test]
fn a_key_has_a_rate_of_its_own() {
    let place = folder();
    let (slow, fast) = (key(&place, &["slow", "--rate", "2"]), key(&place, &["fast"]));
    let server = serve(&place, &[]);
    let statuses: Vec<u16> =
        (0..20).map(|_| server.post("/v1/runs", &slow, &json!({ "program": "return 1" })).status).collect();
    assert!(statuses[..2].iter().all(|status| *status == 200) && statuses.contains(&429), "{statuses:?}");
    let shed = std::iter::repeat_with(|| server.post("/v1/runs", &slow, &json!({ "program": "return 1" })));
    let shed = shed.take(20).find(|answer| answer.status == 429).unwrap();
    assert!(shed.head.contains("retry-after: "), "{}", shed.head);
    assert_eq!(server.post("/v1/runs", &fast, &json!({ "program": "return 1" })).status, 200);
    let again = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(100));
        server.post("/v1/runs", &slow, &json!({ "program": "return 1" })).status
    });
    assert!(again.take(300).any(|status| status == 200), "its rate never lets it in again");
}

#[test]
fn a_handle_expires_with_the_run() {
    let place = folder();
    let server = serve(&place, &["--keep", "1s"]);
    let ask = json!({ "program": "return await tools.a()", "tools": ["a"], "run": "r" });
    let waiting = server.post("/v1/runs", "", &ask).json();
    assert_eq!(waiting["status"], "suspended");
    std::thread::sleep(Duration::from_millis(1_500));
    let answer = json!({ "resume": waiting["resume"], "replies": [{ "id": 0, "value": 1 }] });
    let late = server.post("/v1/runs/r/calls", "", &answer);
    assert!(["continuation.expired", "run.unknown"].contains(&late.code().as_str()), "{late:?}");
}
