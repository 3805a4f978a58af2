//! The example that talks to GitHub, from the refusal to the flags that its hint gives, and the token that nobody sees.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::certificate::certificate;
use support::network::Network;
use support::origin::{Next, Origin, Request, Wire, reply};
use support::place::{Outcome, Place, place};
use support::search;

const TOKEN: &str = "ghp_R7kQ2vXw9LmZ4tB8nYc3HsJ6dFa1Ue5Po0Gi";
/// In what the origin says, so that a search that finds nothing can be seen to search.
const MARKER: &str = "marker-5b1d0c7e9f";
const NET: [&str; 2] = ["--allow-net", "GET https://api.github.com/repos/*"];
const CREDENTIAL: [&str; 4] =
    ["--secret", "GITHUB_TOKEN=env:GH_TOKEN", "--credential", "api.github.com: Authorization: Bearer ${GITHUB_TOKEN}"];
const EXAMPLE: &str = include_str!("../../../examples/github.ts");

/// `api.github.com` on loopback. It tells everyone the token it got, in a header and in the body.
struct GitHub {
    origin: Origin,
    place: Place,
}

fn github() -> GitHub {
    let (config, certificate) = certificate(vec!["api.github.com".to_owned()]);
    let origin = Origin::tls(config, answer);
    let network = Network::default().host("api.github.com", "203.0.113.5", 443, origin.address());
    let place = place().on(network).with("GH_TOKEN", TOKEN).with("ISOLITH_LOG", "trace").with("RUST_LOG", "trace");
    place.write("ca.pem", &certificate);
    place.write("github.ts", EXAMPLE);
    GitHub { origin, place }
}

fn answer(request: &Request, wire: &mut dyn Wire) -> std::io::Result<Next> {
    let token = request.header("authorization").unwrap_or("nothing");
    let (path, told) = (request.path(), json!([token, MARKER]));
    let body = if path.ends_with("/releases") {
        json!([{ "tag_name": "1.2.0", "name": null, "published_at": "2026-03-01T00:00:00Z", "told": told }])
    } else {
        let pull = |number: u32, title: &str, merged: Option<&str>| json!({ "number": number, "title": title, "merged_at": merged, "user": { "login": "ada" }, "told": told });
        json!([
            pull(31, "Name the host in errors", Some("2026-03-02T08:00:00Z")),
            pull(30, "An idea", None),
            pull(29, &format!("Part of 1.2.0 {token}"), Some("2026-02-27T08:00:00Z")),
            pull(28, &format!("Say who asked: {token}"), Some("2026-03-03T08:00:00Z")),
        ])
    };
    reply(wire, "200 OK", &[("x-told", token), ("x-marker", MARKER)], body.to_string().as_bytes())
}

impl GitHub {
    fn run(&self, file: &str, flags: &[&[&str]]) -> Outcome {
        self.place.outcome_of(file, &[&["--ca", "ca.pem"], flags.concat().as_slice()].concat())
    }

    /// How many requests came, all of which must have had the token.
    fn authorized(&self) -> usize {
        let requests = self.origin.requests();
        let with = Some(format!("Bearer {TOKEN}"));
        assert!(requests.iter().all(|request| request.header("authorization") == with.as_deref()), "{requests:?}");
        requests.len()
    }

    /// Neither what a process said nor anything it left behind has the token.
    #[track_caller]
    fn nothing_leaked(&self, outcome: &Outcome) {
        let said = [("the outcome", outcome.json.to_string()), ("stderr", outcome.stderr.clone())];
        let files = search::files_below(self.place.data.path()).into_iter();
        let all = said.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).chain(files);
        for (name, bytes) in all.chain(search::files_below(self.place.work.path())) {
            assert_eq!(search::found(TOKEN, &bytes), None, "the token is in {name}");
        }
    }
}

#[test]
fn it_works_with_its_grant_and_its_credential() {
    let github = github();
    let outcome = github.run("github.ts", &[&NET, &CREDENTIAL]);
    let notes =
        json!(["- Name the host in errors (#31, @ada)", "- Say who asked: Bearer [redacted GITHUB_TOKEN] (#28, @ada)"]);
    assert_eq!(outcome.value(), &notes);
    assert_eq!(github.authorized(), 2);
    let used = vec![("egress:GET https://api.github.com/repos/".to_owned(), 2)];
    assert_eq!((outcome.counts("exercised"), outcome.counts("denied")), (used, vec![]));
    github.nothing_leaked(&outcome);
}

#[test]
fn the_hint_of_its_refusal_is_what_makes_it_work() {
    // With the credential at hand, and without: it is the grant that counts.
    for (flags, authorization) in [(&CREDENTIAL[..], Some(format!("Bearer {TOKEN}"))), (&[], None)] {
        let github = github();
        let refused = github.run("github.ts", &[flags]);
        assert!([1, 126].contains(&refused.code), "{:#}", refused.json);
        assert_eq!(github.origin.connections(), 0);
        let hint = refused.hint();
        let pasted = shlex::split(&hint[hint.find("--").unwrap_or_else(|| panic!("no flags in `{hint}`"))..]).unwrap();
        let pasted: Vec<&str> = pasted.iter().map(String::as_str).collect();
        let again = github.run("github.ts", &[flags, &pasted]);
        assert_eq!(again.value().as_array().map(Vec::len), Some(2), "`{hint}` does not do: {:#}", again.json);
        let requests = github.origin.requests();
        let sent: Vec<Option<&str>> = requests.iter().map(|request| request.header("authorization")).collect();
        assert_eq!(sent, [authorization.as_deref(); 2]);
        github.nothing_leaked(&again);
    }
}

#[test]
fn a_grant_for_one_repository_does_not_open_another() {
    let github = github();
    let one = ["--allow-net", "GET https://api.github.com/repos/rust-lang/cargo/*"];
    let refused = github.run("github.ts", &[&one, &CREDENTIAL]);
    assert_eq!((refused.code, refused.json["error"]["code"].as_str()), (126, Some("egress.denied")));
    assert!(
        refused.message().contains("egress:GET https://api.github.com/repos/rust-lang/log/releases"),
        "{refused:?}"
    );
    assert_eq!(github.origin.connections(), 0);
}

/// Everything a program can see of the answers, said in every way that a program can say something.
const TELLTALE: &str = r"
  const r = await fetch('https://api.github.com/repos/a/b/releases');
  const seen = [[...r.headers], r.url, r.statusText, await r.text()];
  console.log(seen);
  console.error(JSON.stringify(seen));
  if (input === 'throw') throw new Error(JSON.stringify(seen));
  const url = 'https://api.github.com/repos/' + encodeURIComponent(seen[3]).slice(0, 400);
  const again = await fetch(url).then((r) => r.headers.get('x-told'), String);
  return { seen, again };
";

#[test]
fn nobody_is_told_the_token() {
    let github = github();
    github.place.write("telltale.js", TELLTALE);
    github.place.write("throw.json", "\"throw\"");
    let audit = github.place.data.path().join("audit.jsonl").display().to_string();
    let log = ["--audit-log", audit.as_str()];
    let outcome = github.run("telltale.js", &[&NET, &CREDENTIAL, &log]);
    let text = outcome.value().to_string();
    assert!(text.contains("[redacted GITHUB_TOKEN]") && text.contains(MARKER), "{text}");
    assert_eq!(github.authorized(), 2);
    github.nothing_leaked(&outcome);
    let thrown = github.run("telltale.js", &[&NET, &CREDENTIAL, &log, &["--input", "throw.json"]]);
    assert_eq!((thrown.code, thrown.message().contains(MARKER)), (1, true), "{:#}", thrown.json);
    github.nothing_leaked(&thrown);
    let spoken = github.place.isolith(&[&["run", "telltale.js", "--ca", "ca.pem"], &NET[..], &CREDENTIAL].concat());
    assert!(spoken.stdout.contains(MARKER) && spoken.stderr.contains(MARKER), "{spoken:?}");
    for text in [&spoken.stdout, &spoken.stderr] {
        assert_eq!(search::found(TOKEN, text.as_bytes()), None, "{text}");
    }
    // The search would have found it: what is there is found, in the database as well as in the log.
    let files = search::files_below(github.place.data.path());
    let holding = |marker: &str| files.iter().filter(|(_, bytes)| search::found(marker, bytes).is_some()).count();
    assert!(holding("api.github.com/repos/a/b/releases") >= 2, "{:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>());
}

const WAITS: &str = "const kept = await fetch('https://api.github.com/repos/a/b/releases').then((r) => r.text());
await new Promise((done) => setTimeout(done, 3_600_000));";

#[test]
fn a_suspended_run_does_not_hold_the_token() {
    let github = github();
    github.place.write("waits.js", &format!("{WAITS}\nreturn kept;"));
    let state = ["--suspend", "state", "--timeout", "2h"];
    let outcome = github.run("waits.js", &[&NET, &CREDENTIAL, &state]);
    assert_eq!(outcome.code, 75, "{:#}", outcome.json);
    assert_eq!(github.authorized(), 1);
    let bytes = github.place.work.read("state");
    assert!(search::found(MARKER, &bytes).is_some(), "the search does not reach into the state");
    github.nothing_leaked(&outcome);
    for half in [&TOKEN[..TOKEN.len() / 2], &TOKEN[TOKEN.len() / 2..]] {
        assert_eq!(search::found(half, &bytes), None, "half of the token is in the state");
    }
}

#[test]
fn what_is_not_taken_out_is_found_by_the_same_search() {
    let github = github();
    let manifest = r#"
        [[grants]]
        kind = "secret"
        name = "GITHUB_TOKEN"
        from = "env:GH_TOKEN"
        [[grants]]
        kind = "egress"
        url = "https://api.github.com"
        credential = { bearer = "GITHUB_TOKEN" }
        redact = false
    "#;
    github.place.write("manifest.toml", manifest);
    github.place.write("tells.js", &format!("{WAITS}\nreturn kept;"));
    let flags = ["--manifest", "manifest.toml", "--timeout", "2h"];
    let outcome = github.run("tells.js", &[&flags, &["--suspend", "state"]]);
    assert_eq!(outcome.code, 75, "{:#}", outcome.json);
    assert!(search::found(TOKEN, &github.place.work.read("state")).is_some());
    github.place.write("tells.js", "return (await fetch('https://api.github.com/repos/a/b/releases')).text()");
    let outcome = github.run("tells.js", &[&flags]);
    assert_eq!(search::found(TOKEN, outcome.json.to_string().as_bytes()), Some("as it is"));
}

#[test]
fn a_server_that_nobody_vouches_for_gets_nothing() {
    let github = github();
    let outcome = github.place.outcome_of("github.ts", &[&NET[..], &CREDENTIAL].concat());
    assert_eq!((outcome.code, outcome.json["error"]["code"].as_str()), (1, Some("egress.tls")), "{:#}", outcome.json);
    assert_eq!(github.origin.requests().len(), 0);
    assert_eq!(outcome.json["status"], Value::from("error"));
}
