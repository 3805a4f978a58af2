//! What goes wrong with the tools of others, as a guest's `catch` sees it.

use isolith_core::CallError;

/// How much of what a server said goes into a message.
const SAID_CHARS_MAX: usize = 2_000;

fn error(code: &str, name: &str, message: String) -> CallError {
    CallError { name: name.into(), message, code: Some(format!("tool.{code}")) }
}

/// There is no such tool.
pub(crate) fn unknown(message: String) -> CallError {
    error("unknown", "TypeError", message)
}

/// The server cannot be started or reached, or its description cannot be read.
pub(crate) fn unavailable(message: String) -> CallError {
    error("unavailable", "Error", message)
}

/// The server went away while it was working.
pub(crate) fn lost(message: String) -> CallError {
    error("lost", "Error", message)
}

/// The tool did not do what it was asked to, and said so.
pub(crate) fn failed(message: String) -> CallError {
    error("failed", "Error", message)
}

/// It took too long.
pub(crate) fn timeout(message: String) -> CallError {
    error("timeout", "TimeoutError", message)
}

/// It is more than anyone takes.
pub(crate) fn too_large(message: String) -> CallError {
    error("too_large", "Error", message)
}

/// The arguments are not what the tool takes.
pub(crate) fn invalid_input(path: &str, what: &str) -> CallError {
    error("invalid_input", "TypeError", format!("the argument of the tool `{path}` is not what it takes: {what}"))
}

/// The answer is not what the tool promises.
pub(crate) fn invalid_output(path: &str, what: &str) -> CallError {
    error("invalid_output", "Error", format!("the answer of the tool `{path}` is not what it promises: {what}"))
}

// THREAT[T-TOOL-004]: what a server says can end up on a terminal.
/// What a server said, bounded and harmless.
pub(crate) fn said(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let text = text.trim();
    let mut short: String = text.chars().take(SAID_CHARS_MAX).filter(|c| *c != '\r').map(shown).collect();
    if text.chars().nth(SAID_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}
