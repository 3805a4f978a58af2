//! Secrets: kept encrypted, told to nobody, and missed before any packet is sent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::origin::{Origin, reply};
use support::place::{Place, place};
use support::search;

const SECRET: &str = "kept-w8Xq2Lr5Tz9Vb3Nm7";

struct Scene {
    origin: Origin,
    place: Place,
    base: String,
}

fn scene() -> Scene {
    let origin = Origin::plain(|request, wire| {
        reply(wire, "200 OK", &[], request.header("authorization").unwrap_or("nothing").as_bytes())
    });
    let base = format!("http://127.0.0.1:{}", origin.port());
    Scene { origin, place: place(), base }
}

impl Scene {
    /// A request with this secret as its bearer.
    fn bearer(&self, secret: &str) -> support::place::Outcome {
        let program = format!("return (await fetch('{}/x')).text()", self.base);
        let credential = format!("{}: bearer KEY", self.base);
        let secret = format!("KEY={secret}");
        self.place.outcome(&program, &["--allow-net", &self.base, "--secret", &secret, "--credential", &credential])
    }

    fn names(&self) -> Vec<String> {
        let ran = self.place.isolith(&["secret", "list", "--json"]);
        let list: Value = serde_json::from_str(&ran.stdout).unwrap();
        list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    fn sent(&self) -> Vec<Option<String>> {
        self.origin.requests().iter().map(|request| request.header("authorization").map(str::to_owned)).collect()
    }
}

#[test]
fn what_is_kept_can_be_used_and_not_read() {
    let scene = scene();
    let ran = scene.place.isolith_fed(&["secret", "set", "token"], &format!("{SECRET}\n"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert_eq!(scene.names(), ["token"]);
    let shown = scene.place.isolith(&["secret", "list"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "token\n"));
    assert_eq!(scene.bearer("store:token").value(), &json!("Bearer [redacted KEY]"));
    assert_eq!(scene.sent(), [Some(format!("Bearer {SECRET}"))]);
    for (file, bytes) in search::files_below(scene.place.data.path()) {
        assert_eq!(search::found(SECRET, &bytes), None, "it is in {file}");
    }
    // Another value takes the place of the first.
    scene.place.isolith_fed(&["secret", "set", "token"], "another-value");
    scene.bearer("store:token").value();
    assert_eq!(scene.sent()[1].as_deref(), Some("Bearer another-value"));
    assert_eq!(scene.place.isolith(&["secret", "remove", "token"]).code, 0);
    assert_eq!(scene.names(), Vec::<String>::new());
    let ran = scene.place.isolith(&["secret", "remove", "token"]);
    assert_eq!((ran.code, ran.stderr.contains("no secret `token` is kept")), (2, true), "{}", ran.stderr);
    assert_eq!(scene.place.isolith_fed(&["secret", "set", "a b"], "x").code, 2);
}

#[test]
fn the_data_folder_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let scene = scene();
    scene.place.isolith_fed(&["secret", "set", "token"], SECRET);
    scene.bearer("store:token").value();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&scene.place.data_path()), 0, "the folder is open to others");
    for (file, _) in search::files_below(&scene.place.data_path()) {
        assert_eq!(mode(file.as_ref()), 0, "{file} is open to others");
    }
}

#[test]
fn secrets_come_from_where_they_are_said_to() {
    let scene = scene();
    scene.place.write("word.txt", "from-a-file\n");
    for (source, value) in [("file:word.txt", "from-a-file"), ("command:printf from-a-command", "from-a-command")] {
        scene.bearer(source).value();
        assert_eq!(scene.sent().pop().flatten(), Some(format!("Bearer {value}")), "{source}");
    }
}

#[test]
fn a_missing_secret_is_an_error_before_any_packet() {
    let scene = scene();
    for source in ["env:SURELY_NOT_SET_ANYWHERE", "file:gone.txt", "store:gone", "command:exit 1 "] {
        let outcome = scene.bearer(source);
        assert_eq!((outcome.code, outcome.json["error"]["code"].as_str()), (1, Some("secret.missing")), "{source}");
        assert!(outcome.message().contains("`KEY`"), "{source}: {}", outcome.message());
    }
    // A value that no header can hold is as good as none.
    let scene = Scene { place: scene.place.with("SPLIT", "a\r\nx-injected: 1"), ..scene };
    let outcome = scene.bearer("env:SPLIT");
    assert_ne!(outcome.code, 0, "{:#}", outcome.json);
    assert_eq!(scene.origin.connections(), 0);
}

#[test]
fn a_program_cannot_set_what_a_credential_sets() {
    let scene = scene();
    let scene = Scene { place: scene.place.with("WORD", SECRET), ..scene };
    let program = format!(
        "const tries = [{{ authorization: 'mine' }}, {{ AUTHORIZATION: 'mine' }}, [['Authorization', 'a'], ['authorization', 'b']]];
         const seen = [];
         for (const headers of tries) seen.push(await fetch('{}/x', {{ headers }}).then((r) => r.text(), (e) => e.code));
         return seen;",
        scene.base
    );
    let credential = format!("{}: Authorization: Bearer ${{KEY}}", scene.base);
    let flags = ["--allow-net", &scene.base, "--secret", "KEY=env:WORD", "--credential", &credential];
    let outcome = scene.place.outcome(&program, &flags);
    for said in outcome.value().as_array().unwrap() {
        assert!(said == "Bearer [redacted KEY]" || said.as_str().unwrap().ends_with(".denied"), "{said}");
    }
    for sent in scene.sent() {
        assert_eq!(sent, Some(format!("Bearer {SECRET}")));
    }
}

#[test]
fn a_credential_without_a_grant_grants_nothing() {
    let scene = scene();
    let scene = Scene { place: scene.place.with("WORD", SECRET), ..scene };
    let credential = format!("{}: bearer KEY", scene.base);
    let program = format!("return typeof fetch === 'undefined' ? 'absent' : (await fetch('{}/x')).status", scene.base);
    let outcome = scene.place.outcome(&program, &["--secret", "KEY=env:WORD", "--credential", &credential]);
    assert_eq!(outcome.value(), &json!("absent"));
    assert!(outcome.stderr.contains("is not used: nothing there is granted"), "{}", outcome.stderr);
    assert_eq!(scene.origin.connections(), 0);
}
