//! What tests of needs share.

use isolith_program::{Language, Needs, Place, needs};
use std::fmt::Write as _;

/// Needs as lines of text: `~` for one that is wider than its calls, `?` for what is unknown.
pub(crate) fn render(found: &Needs) -> String {
    let place = |place: &Place| format!("{}:{}", place.line, place.column);
    let places = |all: &[Place]| all.iter().map(place).collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for need in &found.needs {
        let _ = writeln!(out, "{}{} @ {}", if need.exact { "" } else { "~" }, need.power, places(&need.places));
    }
    for unknown in &found.unknown {
        let _ = writeln!(out, "? {} @ {}: {}", unknown.kind, place(&unknown.place), unknown.why);
    }
    for (what, all) in [("clock", &found.clock), ("random", &found.random)] {
        if !all.is_empty() {
            let _ = writeln!(out, "{what} @ {}", places(all));
        }
    }
    out.trim_end().to_owned()
}

/// The needs of a source, or what is wrong with it.
pub(crate) fn show(source: &str) -> String {
    match needs(source, "main.ts", Language::Auto) {
        Ok(found) => render(&found),
        Err(error) => format!("error: {} [{}]", error.message, error.code),
    }
}

/// Checks rows of a source and its needs, and says all that differ.
pub(crate) fn check(rows: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (source, expected) in rows {
        let shown = show(source);
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if shown != expected.join("\n") {
            let _ = writeln!(wrong, "--- {source}\nexpected:\n{}\nfound:\n{shown}\n", expected.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
