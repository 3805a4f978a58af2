use isolith_program::SourceError;
use std::fmt;

/// The longest message, in characters; what is cut off ends in `…`.
const MESSAGE_CHARS_MAX: usize = 400;

/// Why a file is no workflow. Nothing of it has run.
///
/// What the file contributed to a message is free of control characters and bounded, so it may be shown on a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The text is no program.
    #[error(transparent)]
    Syntax(Box<SyntaxFault>),
    /// The program does what a workflow must not do.
    #[error("SandboxViolation: {0}")]
    Violation(String),
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    /// A stable code: `syntax`, `syntax.nesting`, …
    pub code: &'static str,
    /// For people and models, without a full stop.
    pub message: String,
    /// The file that it is in.
    pub file: String,
    /// Line of the author's text, from 1.
    pub line: u32,
    /// Column in that line, from 1, in characters.
    pub column: u32,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SyntaxFault { message, file, line, column, .. } = self;
        write!(f, "SyntaxError: {message} ({file}:{line}:{column})")
    }
}

impl std::error::Error for SyntaxFault {}

impl LoadError {
    pub(crate) fn violation(message: impl AsRef<str>) -> Self {
        LoadError::Violation(tidy(message.as_ref()))
    }

    pub(crate) fn syntax(fault: SyntaxFault) -> Self {
        LoadError::Syntax(Box::new(SyntaxFault { message: tidy(&fault.message), file: tidy(&fault.file), ..fault }))
    }

    /// The same error, in the words of the crate that compiles programs, of the file `name`.
    pub(crate) fn from_source(error: SourceError, name: &str) -> Self {
        let SourceError { code, message, line, column, hint, .. } = error;
        LoadError::syntax(SyntaxFault { code, message, file: name.to_owned(), line, column, hint })
    }
}

/// Makes a text fit for one line of a terminal.
fn tidy(text: &str) -> String {
    // THREAT[T-PROGRAM-002]: escape sequences and characters that reverse the direction of writing could make a refusal
    // look like another one.
    let show = |c: char| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(MESSAGE_CHARS_MAX).map(show).collect();
    if text.chars().nth(MESSAGE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
