//! What each grant opens, and its twin: the same without it, refused by a name that would have opened it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "grants/capabilities.rs"]
mod capabilities;
#[path = "grants/flags.rs"]
mod flags;
#[path = "grants/policy.rs"]
mod policy;
#[path = "grants/rules.rs"]
mod rules;
mod support;

use support::origin::{Origin, reply};
use support::place::{Outcome, Place, place};

/// A server that says what it was asked, and a place to ask it from.
struct Scene {
    origin: Origin,
    place: Place,
    /// `http://127.0.0.1:…`
    base: String,
}

fn scene() -> Scene {
    let origin = Origin::plain(|request, wire| {
        reply(wire, "200 OK", &[], format!("{} {}", request.method, request.target).as_bytes())
    });
    let base = format!("http://127.0.0.1:{}", origin.port());
    let place = place().with("VAULT_WORD", "open sesame, said nobody");
    place.write("files/notes/a.txt", "alpha");
    place.write("files/notes/b.txt", "beta");
    place.write("files/other.txt", "other");
    std::os::unix::fs::symlink("/etc/passwd", place.work.path().join("files/notes/out")).unwrap();
    std::os::unix::fs::symlink("../other.txt", place.work.path().join("files/notes/beside")).unwrap();
    Scene { origin, place, base }
}

impl Scene {
    /// Runs a program in which `BASE` is the server.
    #[track_caller]
    fn run(&self, program: &str, flags: &[&str]) -> Outcome {
        let flags: Vec<String> = flags.iter().map(|flag| flag.replace("BASE", &self.base)).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.place.outcome(&program.replace("BASE", &self.base), &flags)
    }

    /// The same under a manifest (TOML) in which `BASE` is the server too.
    #[track_caller]
    fn run_under(&self, manifest: &str, program: &str, flags: &[&str]) -> Outcome {
        self.place.write("manifest.toml", &manifest.replace("BASE", &self.base));
        self.run(program, &[&["--manifest", "manifest.toml"], flags].concat())
    }
}

/// Refused by policy, with a message that has this in it.
#[track_caller]
fn refused(outcome: &Outcome, code: &str, fragment: &str) {
    let error = &outcome.json["error"];
    assert_eq!((outcome.code, error["code"].as_str()), (126, Some(code)), "{:#}", outcome.json);
    assert!(outcome.message().contains(fragment), "`{fragment}` is not in {error:#}");
    assert!(!outcome.counts("denied").is_empty(), "{:#}", outcome.json);
}

/// Failed for a reason that is no refusal.
#[track_caller]
fn failed(outcome: &Outcome, code: &str) {
    let error = &outcome.json["error"];
    assert_eq!((outcome.code, error["code"].as_str()), (1, Some(code)), "{:#}", outcome.json);
}
