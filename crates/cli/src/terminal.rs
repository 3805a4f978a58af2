//! What a program writes, on its way to the terminal.

use crate::progress::Spinner;
use isolith_core::{OutputSink, Stream, Timestamp};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// Writes output as it comes.
pub(crate) struct Terminal {
    spinner: Spinner,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
}

/// Swallows output.
pub(crate) struct Nowhere;

impl Terminal {
    pub(crate) fn new(spinner: Spinner) -> Terminal {
        Terminal {
            spinner,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        }
    }
}

impl OutputSink for Terminal {
    fn write(&self, stream: Stream, text: String, _at: Timestamp) {
        // A reader that went away is no reason to stop the program.
        self.spinner.aside(|| {
            let _ = match stream {
                Stream::Stdout => writeln!(std::io::stdout(), "{}", inert(&text, self.stdout_is_terminal)),
                Stream::Stderr => writeln!(std::io::stderr(), "{}", inert(&text, self.stderr_is_terminal)),
            };
        });
    }
}

impl OutputSink for Nowhere {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

/// Text of a program as it may be shown: on a terminal, its control characters are pictures of themselves.
/// Text of others on its way to stdout.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    inert(text, std::io::stdout().is_terminal())
}

pub(crate) fn inert(text: &str, on_terminal: bool) -> Cow<'_, str> {
    // THREAT[T-OUTPUT-001]: escape sequences of a program could rewrite the screen or talk to the terminal.
    // Characters that turn the direction of writing would show another text than there is.
    let turning = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = |c: char| turning(c) || (c.is_control() && c != '\n' && c != '\t');
    if !on_terminal || !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let picture = |c: char| match c {
        c if !harmful(c) => c,
        '\u{7f}' => '\u{2421}',
        c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(picture).collect())
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn escapes_are_inert_on_a_terminal_and_kept_elsewhere() {
        let text = "a\u{1b}[31mred\u{7}\u{9b}\n\tx\r\u{202e}y\u{2066}";
        assert_eq!(inert(text, true), "a␛[31mred␇\u{fffd}\n\tx␍\u{fffd}y\u{fffd}");
        assert_eq!(inert(text, false), text);
    }
}
