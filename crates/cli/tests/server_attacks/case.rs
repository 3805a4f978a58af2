//! The corpus: each line is one attack, sent to a real server byte for byte.

use super::judge::{Seen, judge};
use super::support::server::{Answer, Served, read_answer, serve};
use super::{Memory, figure, folder, http2, is_well, key, patience, run_with, until};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const CASES: &str = include_str!("../../../../conformance/attacks/server.jsonl");
/// What any case may cost unless it says otherwise, in MiB: the figure of the promise about hostile input, and a worker's warm-up.
const GROWTH_MIB: u64 = 96;

/// What stands for what in a case.
struct Names(BTreeMap<&'static str, String>);

impl Names {
    fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.0 {
            text = text.replace(&format!("{{{{{name}}}}}"), value);
        }
        text
    }
}

#[test]
fn every_attack_of_the_corpus_is_refused_or_has_no_effect() {
    let folder = folder();
    folder.write("policy.toml", "grants = []\n[limits]\ntimeout = \"1s\"\ncpu = \"1s\"\n");
    let a = key(&folder, &["a", "--scope", "runs,secrets,audit,metrics"]);
    let b = key(&folder, &["b", "--scope", "runs,secrets,audit"]);
    let audit = key(&folder, &["audit", "--scope", "audit"]);
    let narrow = key(&folder, &["narrow", "--policy", "policy.toml"]);
    let server = serve(&folder, &[]);
    let waiting = |key: &str, name: &str| {
        run_with(&server, key, &json!({ "code": "await tools.t()", "tools": ["t"], "run": name }))
    };
    let resume = |run: Value| run["resume"].as_str().unwrap().to_owned();
    let secret = server.send(
        "PUT",
        "/v1/secrets/SECRET_A",
        &a,
        &[("content-type", "application/json")],
        b"{\"value\":\"of-a\"}",
    );
    assert_eq!(secret.status, 200, "{secret:?}");
    let (name_a, secret_b) = (a.rsplit_once('_').unwrap().0, b.rsplit_once('_').unwrap().1);
    let names = Names(BTreeMap::from([
        ("RUN", "/v1/runs".into()),
        ("MCP", "/mcp".into()),
        ("SESSION_PATH", "/v1/sessions/x".into()),
        ("SESSION_A:fullwidth", "\u{ff58}".into()),
        ("TOKEN:8", a[..8].to_owned()),
        ("TOKEN_AB", format!("{name_a}_{secret_b}")),
        ("TOKEN_AUDIT", audit),
        ("TOKEN_P", narrow),
        ("HOST", server.address.to_string()),
        ("PORT", server.address.port().to_string()),
        ("RUN_A", "run-of-a".into()),
        ("RUN_B", "run-of-b".into()),
        ("RESUME_A", resume(waiting(&a, "run-of-a"))),
        ("RESUME_A2", resume(waiting(&a, "other-of-a"))),
        ("RESUME_B", resume(waiting(&b, "run-of-b"))),
        ("TOKEN", a.clone()),
        ("TOKEN_B", b.clone()),
    ]));
    let place = super::Place { server, a, b, _folder: folder };
    is_well(&place.server, &place.a);
    let mut wrong = Vec::new();
    let only = std::env::var("ISOLITH_CASE").unwrap_or_default();
    let mut count = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        if !id.contains(&only) {
            continue;
        }
        count += 1;
        let began = Instant::now();
        let said = attack(&place, &names, &case);
        if std::env::var_os("ISOLITH_SHOW").is_some() {
            eprintln!("{id} {:?} {said:?}", began.elapsed());
        }
        if let Err(said) = said {
            wrong.push(format!("{id}: {said}"));
        }
    }
    assert!(count > 0, "there is no case {only}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    // What they were after is as it was.
    let kept = place.server.get("/v1/runs/run-of-a", &place.a).json();
    assert_eq!(kept["status"], "suspended", "{kept}");
}

fn attack(place: &super::Place, names: &Names, case: &Value) -> Result<(), String> {
    let (request, oracle) = (&case["request"], &case["oracle"]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let seen = send(&place.server, names, request);
    judge(&case["expect"], oracle, &seen, &|text| names.fill(text))?;
    // The invariants: it is there, it serves others, it did not pay with its memory.
    is_well(&place.server, &place.b);
    if let Some(most) = oracle["runEndsWithinMs"].as_u64() {
        let began = Instant::now();
        until("the run of whoever went away ends", || figure(place, "isolith_runs_live") == 0);
        let most = Duration::from_millis(most) + patience();
        if began.elapsed() > most {
            return Err(format!("its run went on for {:?}", began.elapsed()));
        }
    }
    let (peak, most) = (memory.peak(), oracle["rssGrowthMb"].as_u64().unwrap_or(GROWTH_MIB));
    match oracle["totalRssMb"].as_u64() {
        Some(most) if peak >> 20 > most => return Err(format!("memory was {} MiB, more than {most}", peak >> 20)),
        Some(_) => {}
        None if peak.saturating_sub(before) >> 20 > most => {
            return Err(format!("memory grew by {} MiB, more than {most}", (peak - before) >> 20));
        }
        None => {}
    }
    Ok(())
}

fn send(server: &Served, names: &Names, request: &Value) -> Seen {
    if let Some(kind) = request["h2"].as_str() {
        http2::attack(server, kind);
        return Seen::Gone;
    }
    if let Some(count) = request["parallel"].as_u64() {
        let bytes = whole(server, names, &request["request"]);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..count).map(|_| scope.spawn(|| exchange(server, &bytes))).collect();
            all.into_iter().for_each(|one| drop(one.join().unwrap()));
        });
        return Seen::Gone;
    }
    if let Some(ms) = request["disconnectAfterMs"].as_u64() {
        let mut stream = server.connect();
        stream.write_all(&whole(server, names, &request["request"])).unwrap();
        std::thread::sleep(Duration::from_millis(ms));
        return Seen::Gone;
    }
    if request["slowReader"] == true {
        let mut stream = server.connect();
        stream.write_all(&whole(server, names, request)).unwrap();
        // It is written as far as the sockets go. Then others come, and the one who does not read goes on not reading.
        std::thread::sleep(Duration::from_millis(500));
        is_well(server, &names.0["TOKEN_B"]);
        return Seen::Gone;
    }
    exchange(server, &whole(server, names, request)).map_or(Seen::Gone, Seen::Answer)
}

/// Sends and reads side by side: a server that refuses early does not read to the end.
fn exchange(server: &Served, bytes: &[u8]) -> Option<Answer> {
    let mut stream = server.connect();
    stream.set_read_timeout(Some(patience())).unwrap();
    let mut writer: TcpStream = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = writer.write_all(bytes);
        });
        let answer = read_answer(&mut stream);
        let _ = stream.shutdown(std::net::Shutdown::Both);
        answer
    })
}

/// The bytes of a request.
fn whole(server: &Served, names: &Names, request: &Value) -> Vec<u8> {
    if let Some(text) = request["rawB64"].as_str() {
        return STANDARD.decode(text).unwrap();
    }
    if let Some(text) = request["raw"].as_str() {
        let mut bytes = names.fill(text).into_bytes();
        let repeat = &request["repeat"];
        if let (Some(text), Some(times)) = (repeat["text"].as_str(), repeat["times"].as_u64()) {
            bytes.extend(text.repeat(times as usize).into_bytes());
            bytes.extend(names.fill(request["then"].as_str().unwrap()).into_bytes());
        }
        return bytes;
    }
    let body = body(names, request);
    let method = request["method"].as_str().unwrap_or("POST");
    let path = names.fill(request["path"].as_str().unwrap());
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    let headers = request["headers"].as_object().unwrap();
    if !headers.contains_key("host") {
        head.push_str(&format!("host: {}\r\n", server.address));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {}\r\n", names.fill(value.as_str().unwrap())));
    }
    if method != "GET" {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    [head.as_bytes(), b"\r\n", &body].concat()
}

fn body(names: &Names, request: &Value) -> Vec<u8> {
    if let Some(text) = request["bodyB64"].as_str() {
        return STANDARD.decode(text).unwrap();
    }
    if let Some(count) = request["bodyBytes"].as_u64() {
        return vec![b'x'; count as usize];
    }
    if let Some(count) = request["bodyGzipBytes"].as_u64() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::copy(&mut std::io::Read::take(std::io::repeat(b' '), count), &mut encoder).unwrap();
        return encoder.finish().unwrap();
    }
    let text = |value: &Value| names.fill(value.as_str().unwrap_or_default());
    if let Some(nest) = request.get("bodyNest") {
        let depth = nest["depth"].as_u64().unwrap() as usize;
        let (open, close) = (text(&nest["open"]).repeat(depth), text(&nest["close"]).repeat(depth));
        let parts = [text(&nest["before"]), open, text(&nest["inner"]), close, text(&nest["after"])];
        return parts.concat().into_bytes();
    }
    if let Some(repeat) = request.get("bodyRepeat") {
        let (piece, between) = (text(&repeat["text"]), text(&repeat["between"]));
        let mut whole = text(&repeat["before"]);
        for n in 0..repeat["times"].as_u64().unwrap() {
            if n > 0 {
                whole.push_str(&between);
            }
            whole.push_str(&piece.replace("{n}", &n.to_string()));
        }
        whole.push_str(&text(&repeat["after"]));
        return whole.into_bytes();
    }
    text(&request["body"]).into_bytes()
}
