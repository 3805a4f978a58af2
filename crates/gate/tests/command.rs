//! Tools that are programs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{BindingName, Json, ToolGrant};
use isolith_gate::run_command;
use std::path::Path;
use std::time::Duration;

fn tool(command: &[&str]) -> ToolGrant {
    let command = command.iter().map(|part| (*part).to_owned()).collect();
    ToolGrant { command, timeout_ms: 20_000, ..ToolGrant::new(BindingName::new("t").unwrap()) }
}

fn json(text: &str) -> Json {
    Json::from_text(text.into()).unwrap()
}

/// What came of it: the answer's text, `undefined`, or a code and a message.
async fn run(grant: &ToolGrant, args: Option<&Json>) -> String {
    let folder = tempfile::tempdir().unwrap();
    match run_command(grant, args, folder.path()).await {
        Ok(Some(json)) => json.text().to_owned(),
        Ok(None) => "undefined".into(),
        Err(error) => format!("{}: {}", error.code.unwrap(), error.message),
    }
}

#[tokio::test]
async fn commands_answer() {
    let failed = "tool.failed: the tool `t`";
    for (command, args, expected) in [
        (&["cat"][..], Some(r#"{"a": [1, "ü"]}"#), r#"{"a": [1, "ü"]}"#.to_owned()),
        (&["cat"], None, "null".into()),
        (&["true"], Some("1"), "undefined".into()),
        (&["echo", "[1]"], Some("1"), "[1]".into()),
        (&["read x; echo \"[$x,$x]\""], Some("7"), "[7,7]".into()),
        (&["printf", "%s", "\"a b\""], None, "\"a b\"".into()),
        (&["echo hello"], None, "tool.invalid_output: the tool `t` did not answer in JSON: not valid JSON: expected value at line 1 column 1".into()),
        (&["echo 1 2"], None, "tool.invalid_output: the tool `t` did not answer in JSON: not valid JSON: trailing characters at line 1 column 3".into()),
        (&["printf '\\377'"], None, "tool.invalid_output: the tool `t` did not answer in JSON: its output is not UTF-8".into()),
        (&["echo '{}'; echo broken >&2; exit 3"], None, format!("{failed} failed with exit code 3: broken")),
        (&["exit 4 "], None, format!("{failed} failed with exit code 4")),
        (&["kill -9 $$"], None, format!("{failed} was ended by a signal")),
        (&["printf 'a\\033[2Jb' >&2; exit 1"], None, format!("{failed} failed with exit code 1: a\u{fffd}[2Jb")),
        (&["/does/not/exist"], None, format!("{failed} could not be started: entity not found")),
        (&[], None, format!("{failed} has no command, and nobody brought it as a function")),
    ] {
        let args = args.map(json);
        assert_eq!(run(&tool(command), args.as_ref()).await, expected, "{command:?}");
    }
}

#[tokio::test]
async fn only_the_end_of_stderr_is_shown() {
    let said = run(&tool(&["head -c 5000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1"]), None).await;
    assert!(said.ends_with("xthe end") && said.len() < 2200, "{} bytes", said.len());
}

#[tokio::test]
async fn much_in_and_much_out_at_once_does_not_wait_for_itself() {
    let large = json(&format!("\"{}\"", "x".repeat(8 << 20)));
    assert_eq!(run(&tool(&["cat"]), Some(&large)).await.len(), (8 << 20) + 2);
    assert_eq!(run(&tool(&["echo 1; exit 0"]), Some(&large)).await, "1", "stdin need not be read");
    assert_eq!(run(&tool(&["exec 0<&-; echo 2"]), Some(&large)).await, "2");
}

#[tokio::test]
async fn an_endless_answer_ends() {
    let said = run(&tool(&["yes", "1"]), None).await;
    assert_eq!(said, "tool.too_large: the tool `t` answered with more than 16 MiB");
}

#[tokio::test]
async fn the_environment_is_scrubbed() {
    // The test's own environment has more than these: cargo sets dozens.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let said = run(
        &tool(&["env | grep -v -E '^(PATH|HOME|LANG|TZ|ISOLITH_TOOL_[A-Z]*|PWD|SHLVL|OLDPWD|_)=' >&2; exit 1"]),
        None,
    )
    .await;
    assert_eq!(said, "tool.failed: the tool `t` failed with exit code 1");
}

#[tokio::test]
async fn it_runs_in_the_folder_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let grant = tool(&["printf '\"%s\"' \"$(pwd -P)\""]);
    let said = run_command(&grant, None, folder.path()).await.unwrap().unwrap();
    assert_eq!(said.parse::<String>().unwrap(), folder.path().canonicalize().unwrap().to_str().unwrap());
}

/// Writes its number to a file, and starts a child that does the same. Both then wait for a long time.
fn family(folder: &Path) -> String {
    let folder = folder.display();
    format!("sh -c 'echo $$ > {folder}/child; exec sleep 1000' & echo $$ > {folder}/leader; wait")
}

async fn numbers(folder: &Path) -> Vec<i32> {
    loop {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<i32>().ok();
        if let (Some(leader), Some(child)) = (read("leader"), read("child")) {
            return vec![leader, child];
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(process: i32) {
    let running = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // A zombie has ended, and waits for whoever inherited it.
        let state = stat.rsplit_once(')')?.1.trim().chars().next()?;
        (state != 'Z' && state != 'X').then_some(())
    };
    for _ in 0..4000 {
        if running().is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{process} still runs");
}

#[tokio::test]
async fn a_time_limit_ends_the_whole_family() {
    let folder = tempfile::tempdir().unwrap();
    let grant = ToolGrant { timeout_ms: 700, ..tool(&[&family(folder.path())]) };
    assert_eq!(run(&grant, None).await, "tool.timeout: the tool `t` took longer than 700 ms");
    for process in numbers(folder.path()).await {
        gone(process).await;
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_whole_family() {
    let folder = tempfile::tempdir().unwrap();
    let grant = tool(&[&family(folder.path())]);
    let found = tokio::select! {
        _ = run_command(&grant, None, folder.path()) => panic!("it ended"),
        found = numbers(folder.path()) => found,
    };
    for process in found {
        gone(process).await;
    }
}

#[tokio::test]
async fn what_a_tool_leaves_behind_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let leave = format!(
        "sh -c 'echo $$ > {0}/child; exec sleep 1000' & echo $$ > {0}/leader; while [ ! -s {0}/child ]; do :; done; echo 5",
        folder.path().display()
    );
    assert_eq!(run(&tool(&[&leave]), None).await, "5", "though its stdout is still open elsewhere");
    for process in numbers(folder.path()).await {
        gone(process).await;
    }
}
