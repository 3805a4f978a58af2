use crate::fault::Fault;
use crate::lines::{LineEnds, Lines};
use std::fmt::Write as _;

/// The longest message, in characters; what is cut off ends in `…`.
const MESSAGE_CHARS_MAX: usize = 300;

/// How much of a line is shown around the position, in columns of a terminal.
const EXCERPT_COLUMNS_MAX: usize = 100;

/// A tab in the shown line takes this many columns.
const TAB_COLUMNS: usize = 4;

/// Why a text is not a program that can be run.
///
/// Positions are those of the author's text. What the text contributed to the message is free of control characters
/// and bounded in length, so it may be shown on a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// A stable code: `syntax`, `import.unknown`, ...
    pub code: &'static str,
    /// For people and models, without a full stop.
    pub message: String,
    /// Line of the author's source, from 1.
    pub line: u32,
    /// Column in that line, from 1, in characters.
    pub column: u32,
    /// What to do about it.
    pub hint: Option<String>,
    shown: Box<Shown>,
}

/// What is shown besides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    name: String,
    excerpt: Excerpt,
}

/// The line in question, as a terminal shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Columns before the caret.
    caret: usize,
}

impl SourceError {
    pub(crate) fn new(fault: Fault, source: &str, name: &str) -> Self {
        let lines = Lines::new(source, LineEnds::Script);
        let (line, column) = lines.position(fault.offset);
        let text = lines.text(line as usize - 1).trim_start_matches('\u{feff}');
        SourceError {
            code: fault.code,
            message: tidy(fault.message.trim_end_matches('.')),
            line,
            column,
            hint: fault.hint.map(|hint| tidy(hint.trim_end_matches('.'))).or_else(|| {
                let (line, column) = lines.position(fault.unclosed?);
                Some(format!("the bracket to be closed is the one at {line}:{column}"))
            }),
            shown: Box::new(Shown { name: tidy(name), excerpt: Excerpt::around(text, column as usize - 1) }),
        }
    }

    /// The file that it is in: the program's own name, or that of a module.
    pub fn file(&self) -> &str {
        &self.shown.name
    }

    /// Whether it is in the file of this name.
    pub fn is_in(&self, name: &str) -> bool {
        self.shown.name == tidy(name)
    }

    /// The error with the line it is in and a caret under the place.
    ///
    /// ```text
    /// error: Expected `,` or `)` but found `;` [syntax]
    ///   --> script.ts:3:14
    ///    |
    ///  3 | const a = f(1;
    ///    |              ^
    /// hint: …
    /// ```
    pub fn render(&self) -> String {
        let place = self.shown.excerpt.render(&self.shown.name, self.line, self.column);
        let mut out = format!("error: {} [{}]\n{place}\n", self.message, self.code);
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "hint: {hint}");
        }
        out
    }
}

/// The line of `source` with a place in it, and a caret under the place, as errors show it.
///
/// Lines and columns count from 1; a place outside the source shows an empty line.
pub fn excerpt(source: &str, name: &str, line: u32, column: u32) -> String {
    let lines = Lines::new(source, LineEnds::Script);
    let text = lines.text((line as usize).saturating_sub(1)).trim_start_matches('\u{feff}');
    Excerpt::around(text, (column as usize).saturating_sub(1)).render(&tidy(name), line, column)
}

impl Excerpt {
    fn render(&self, name: &str, line: u32, column: u32) -> String {
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let caret = " ".repeat(self.caret);
        let text = &self.text;
        format!("{margin} --> {name}:{line}:{column}\n {margin} |\n {number} | {text}\n {margin} | {caret}^")
    }

    /// Shows `line` around its character number `at`, from 0.
    fn around(line: &str, at: usize) -> Self {
        // First go left from the place for at most half of the columns, then right for what is left.
        let before: Vec<char> = line.chars().take(at).collect();
        let mut columns = 0;
        let mut start = before.len();
        while start > 0 && columns + width(before[start - 1]) <= EXCERPT_COLUMNS_MAX / 2 {
            start -= 1;
            columns += width(before[start]);
        }
        // Where all of it fits, a line that is cut nowhere is nicer.
        let mut text = String::new();
        let mut caret = columns;
        if start > 0 {
            text.push('…');
            caret += 1;
        }
        before[start..].iter().for_each(|&c| show(c, &mut text));
        let mut rest = line.chars().skip(at);
        for c in rest.by_ref() {
            columns += width(c);
            if columns > EXCERPT_COLUMNS_MAX {
                text.push('…');
                break;
            }
            show(c, &mut text);
        }
        Excerpt { text: text.trim_end().to_owned(), caret }
    }
}

/// Makes a text fit for one line of a terminal.
pub(crate) fn tidy(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == MESSAGE_CHARS_MAX {
            out.push('…');
            break;
        }
        show(if c == '\n' || c == '\t' { ' ' } else { c }, &mut out);
    }
    out
}

fn show(c: char, out: &mut String) {
    match c {
        '\t' => out.push_str(&" ".repeat(TAB_COLUMNS)),
        // THREAT[T-PROGRAM-002]: a program is shown to people; escape sequences and characters that reverse the
        // direction of writing could make it look like another one.
        c if c.is_control() || is_invisible(c) => out.push('\u{fffd}'),
        c => out.push(c),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Columns that a character takes on most terminals.
fn width(c: char) -> usize {
    match c as u32 {
        0x09 => TAB_COLUMNS,
        // Marks that go onto the character before them, joiners and variation selectors.
        0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x200C..=0x200D | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
        // East Asian letters and emoji.
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF01..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str, offset: usize, hint: Option<&str>) -> String {
        let mut fault = Fault::syntax(offset, "Expected `,` or `)` but found `;`.");
        fault.hint = hint.map(Into::into);
        SourceError::new(fault, source, "script.ts").render()
    }

    #[test]
    fn the_line_is_shown_with_a_caret() {
        let source = "\n\nconst a = f(1;\n";
        assert_eq!(
            render(source, 15, Some("close the call")),
            "error: Expected `,` or `)` but found `;` [syntax]\n  --> script.ts:3:14\n   |\n 3 | const a = f(1;\n   |              ^\nhint: close the call\n"
        );
    }

    #[test]
    fn numbers_of_lines_are_aligned() {
        let source = format!("{}x;", "\n".repeat(99));
        assert_eq!(
            render(&source, 99, None),
            "error: Expected `,` or `)` but found `;` [syntax]\n    --> script.ts:100:1\n     |\n 100 | x;\n     | ^\n"
        );
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_caret_in_place() {
        for (source, offset, line, caret) in [
            ("\tx;", 1, "    x;", 4),
            ("\"日本\";", 8, "\"日本\";", 6),
            ("e\u{301}x;", 3, "e\u{301}x;", 1),
            ("\"😀\";", 6, "\"😀\";", 4),
            ("\u{feff}ab", 4, "ab", 1),
            ("a\u{1b}[31mb", 1, "a\u{fffd}[31mb", 1),
            ("a\u{202e}b", 1, "a\u{fffd}b", 1),
            ("", 0, "", 0),
            ("a", 9, "a", 1),
        ] {
            let error = SourceError::new(Fault::syntax(offset, "x"), source, "a.js");
            let excerpt = &error.shown.excerpt;
            assert_eq!((excerpt.text.as_str(), excerpt.caret), (line, caret), "{source}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let source = format!("{}!{}", "a".repeat(10_000), "b".repeat(10_000));
        let error = SourceError::new(Fault::syntax(10_000, "x".repeat(1_000)), &source, &"n".repeat(1_000));
        assert_eq!(error.column, 10_001);
        assert_eq!(error.shown.excerpt.text, format!("…{}!{}…", "a".repeat(50), "b".repeat(49)));
        assert_eq!(error.shown.excerpt.caret, 51);
        assert!(error.render().chars().count() < 1_000);
    }
}
