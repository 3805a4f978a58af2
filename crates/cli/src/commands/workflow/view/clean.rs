//! Text of workflows and agents, made fit to be shown.

/// The text on one line, at most `bytes_max` of it.
pub(super) fn line(text: &str, bytes_max: usize) -> String {
    let flat = |c: char| if is_break(c) || c == '\t' { ' ' } else { c };
    cut(text, bytes_max).chars().map(flat).filter(|c| is_plain(*c)).collect()
}

/// The text on its own lines, at most `bytes_max` of it; says so when there was more.
pub(super) fn lines(text: &str, bytes_max: usize) -> String {
    let kept = cut(text, bytes_max);
    let mut out = String::with_capacity(kept.len());
    for c in kept.replace("\r\n", "\n").chars() {
        match c {
            '\t' => out.push_str("    "),
            c if is_break(c) => out.push('\n'),
            c if is_plain(c) => out.push(c),
            _ => {}
        }
    }
    if kept.len() < text.len() {
        out.push_str("\n… the rest is not kept here");
    }
    out
}

/// The beginning of a text, in whole characters.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character only shows itself.
fn is_plain(c: char) -> bool {
    // THREAT[T-OUTPUT-001]: escape sequences could rewrite the screen or talk to the terminal. Characters that turn the
    // direction of writing, or that nobody sees, would show another text than there is.
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    !(c.is_control() || turns || hides)
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn what_talks_to_the_terminal_is_gone() {
        let hostile = "a\u{1b}[31mred\u{7}\u{9b}2J\u{202e}b\u{200b}c\u{7f}";
        assert_eq!(line(hostile, 100), "a[31mred2Jbc");
        assert_eq!(lines(hostile, 100), "a[31mred2Jbc");
    }

    #[test]
    fn lines_stay_where_there_is_room_for_them() {
        assert_eq!(line("a\r\nb\tc", 100), "a  b c");
        assert_eq!(lines("a\r\nb\rc\td\u{2028}e", 100), "a\nb\nc    d\ne");
    }

    #[test]
    fn a_cut_is_told_and_splits_no_character() {
        assert_eq!(line("aéé", 2), "a");
        assert_eq!(lines("aéé", 4), "aé\n… the rest is not kept here");
    }
}
