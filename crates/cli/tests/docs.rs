//! The commands that the documents show are run, and do what the documents say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use std::path::{Path, PathBuf};
use support::{binary, folder};

fn root() -> PathBuf {
    Path::new("../..").canonicalize().unwrap()
}

/// The `console` blocks of a document: each `$ command` with the lines that follow it.
fn console_blocks(document: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        match line.trim() {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push((command.into(), String::new())),
                (None, Some((_, expected))) => {
                    expected.push_str(line);
                    expected.push('\n');
                }
                (None, None) => {}
            },
        }
    }
    all
}

#[test]
fn commands_in_the_documents_do_what_they_say() {
    let work = folder();
    std::os::unix::fs::symlink(root().join("examples"), work.path().join("examples")).unwrap();
    let path = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut count = 0;
    for name in [
        "README.md",
        "docs/guide.md",
        "docs/grants.md",
        "docs/approvals.md",
        "docs/record.md",
        "docs/sessions.md",
        "docs/workflows.md",
        "docs/snippets.md",
        "docs/engines.md",
    ] {
        let document = std::fs::read_to_string(root().join(name)).unwrap();
        for (command, expected) in console_blocks(&document) {
            let output = std::process::Command::new("sh")
                .args(["-c", &format!("{{ {command}\n}} 2>&1")])
                .env("PATH", &path)
                .env("ISOLITH_DATA", work.path().join("data"))
                .current_dir(work.path())
                .output()
                .unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert_eq!(printed, expected, "{name}: $ {command}");
            count += 1;
        }
    }
    assert!(count >= 20, "only {count} commands were found");
}
