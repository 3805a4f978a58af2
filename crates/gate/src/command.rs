//! Tools that are programs of the host: JSON in by stdin, JSON out by stdout.

pub(crate) mod process;

use isolith_core::{CallError, Json, ToolGrant, ToolPattern};
use process::{Ended, Failed, Job};
use std::path::Path;
use std::time::Duration;

/// The most a tool may print as its answer.
const STDOUT_BYTES_MAX: usize = 16 << 20;
/// How much of what it prints to stderr is shown when it fails: the end of it.
const STDERR_BYTES_MAX: usize = 2 << 10;
/// The host's variables a tool gets, and those whose names start with [`PREFIX`].
const VARIABLES: &[&str] = &["PATH", "HOME", "LANG", "TZ"];
const PREFIX: &str = "ISOLITH_TOOL_";

/// Runs a tool's command once, in `cwd`, and returns what it answered; nothing when it printed nothing.
///
/// The command is an argv. A single element with spaces is a line for the shell instead. Dropping the future ends the
/// command and what it started, as does its time limit. A process that leaves its process group on purpose is out of reach.
pub async fn run_command(grant: &ToolGrant, args: Option<&Json>, cwd: &Path) -> Result<Option<Json>, CallError> {
    let name = &grant.name;
    let argv = argv(&grant.command).ok_or_else(|| {
        failed("failed", format!("the tool `{name}` has no command, and nobody brought it as a function"))
    })?;
    let mut input = args.map_or("null", Json::text).as_bytes().to_vec();
    input.push(b'\n');
    let job = Job {
        argv,
        cwd: Some(cwd),
        environment: Some(environment(std::env::vars_os())),
        input,
        stdout_bytes_max: STDOUT_BYTES_MAX,
        stderr_bytes_max: STDERR_BYTES_MAX,
        limit: Duration::from_millis(grant.timeout_ms),
    };
    let ended = job.run().await.map_err(|error| match error {
        Failed::Start(error) => failed("failed", format!("the tool `{name}` could not be started: {}", error.kind())),
        Failed::Io(error) => failed("failed", format!("the tool `{name}` was lost: {}", error.kind())),
        Failed::TimedOut => failed("timeout", format!("the tool `{name}` took longer than {} ms", grant.timeout_ms)),
        Failed::TooLarge => {
            failed("too_large", format!("the tool `{name}` answered with more than {} MiB", STDOUT_BYTES_MAX >> 20))
        }
    })?;
    answer(name, &ended)
}

fn answer(name: &ToolPattern, ended: &Ended) -> Result<Option<Json>, CallError> {
    if !ended.status.success() {
        let said = harmless(&ended.stderr_tail);
        let how = match ended.status.code() {
            Some(code) => format!("the tool `{name}` failed with exit code {code}"),
            None => format!("the tool `{name}` was ended by a signal"),
        };
        let message = if said.is_empty() { how } else { format!("{how}: {said}") };
        return Err(failed("failed", message));
    }
    let wrong = |why: String| failed("invalid_output", format!("the tool `{name}` did not answer in JSON: {why}"));
    let text = std::str::from_utf8(&ended.stdout).map_err(|_| wrong("its output is not UTF-8".into()))?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    Json::from_text(text.to_owned()).map(Some).map_err(|error| wrong(error.to_string()))
}

fn argv(command: &[String]) -> Option<Vec<String>> {
    match command {
        [] => None,
        [line] if line.contains(char::is_whitespace) => Some(process::shell(line)),
        argv => Some(argv.to_vec()),
    }
}

// THREAT[T-TOOL-001]: a tool is reached with the guest's arguments. The host's environment is full of credentials that
// it has no use for, so it gets the few variables that make programs work, and those set for tools on purpose.
fn environment(
    all: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    all.filter(|(name, _)| name.to_str().is_some_and(|name| VARIABLES.contains(&name) || name.starts_with(PREFIX)))
        .collect()
}

// THREAT[T-TOOL-004]: what a tool prints can end up on a terminal. Control characters would move its cursor, and
// characters that change the direction of writing would show another text than there is.
fn harmless(stderr: &[u8]) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    // The tail may begin within a character.
    let start = stderr.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    String::from_utf8_lossy(&stderr[start..]).trim().chars().map(shown).collect()
}

fn failed(kind: &str, message: String) -> CallError {
    let name = if kind == "timeout" { "TimeoutError" } else { "Error" };
    CallError { name: name.into(), message, code: Some(format!("tool.{kind}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_see_few_variables() {
        let all =
            ["PATH", "HOME", "LANG", "TZ", "ISOLITH_TOOL_X", "ISOLITH_KEY", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD"];
        let kept = environment(all.iter().map(|name| (name.into(), "x".into())));
        let kept: Vec<_> = kept.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(kept, ["PATH", "HOME", "LANG", "TZ", "ISOLITH_TOOL_X"]);
    }

    #[test]
    fn what_is_shown_of_stderr_is_harmless() {
        for (raw, shown) in [
            (&b"  plain\n"[..], "plain"),
            (b"\x1b[31mred\x07", "\u{fffd}[31mred\u{fffd}"),
            (b"\x82\xacrest", "rest"),
            ("a\u{202e}b\r".as_bytes(), "a\u{fffd}b"),
        ] {
            assert_eq!(harmless(raw), shown);
        }
    }
}
