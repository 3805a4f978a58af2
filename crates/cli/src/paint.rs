//! Colours, only where a terminal shows them.

use owo_colors::{OwoColorize, Style};

pub(crate) const ERROR: Style = Style::new().red().bold();
pub(crate) const HINT: Style = Style::new().cyan();
pub(crate) const QUIET: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = Style::new().green();

/// One line to stderr: `label: text`.
pub(crate) fn complain(style: Style, label: &str, text: &str) {
    anstream::eprintln!("{}: {text}", label.style(style));
}

/// One line to stderr, in one colour.
pub(crate) fn note(style: Style, text: &str) {
    anstream::eprintln!("{}", text.style(style));
}
