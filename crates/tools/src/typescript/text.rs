//! Words of strangers inside declarations: none of them can end a comment, a string or a name.

use std::fmt::Write as _;

/// A string as TypeScript writes it, with escapes for what would not be seen.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unseen(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The name of a property, in quotes where it has to be.
pub(super) fn property(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        && !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { quoted(name) }
}

/// The name of a method. `new(…)` would declare a constructor.
pub(super) fn method(name: &str) -> String {
    if name == "new" { quoted(name) } else { property(name) }
}

/// A text on one line, cut to `chars_max` characters.
pub(crate) fn line(text: &str, chars_max: usize) -> String {
    let (mut out, mut chars, mut gap) = (String::new(), 0, false);
    // Neither are a million spaces read to find the word after them.
    for c in text.chars().take(8 * chars_max) {
        if c.is_whitespace() {
            gap = chars > 0;
            continue;
        }
        if is_unseen(c) {
            continue;
        }
        if chars + usize::from(gap) >= chars_max {
            // The last one makes room for the sign that there was more.
            out.pop();
            let kept = out.trim_end().len();
            out.truncate(kept);
            out.push('…');
            return out;
        }
        if gap {
            out.push(' ');
            chars += 1;
        }
        gap = false;
        out.push(c);
        chars += 1;
    }
    out
}

/// A text line by line, without runs of empty lines, cut to `chars_max` characters in all.
pub(super) fn lines(text: &str, chars_max: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut left = chars_max;
    // Empty lines do not count, but reading a million of them takes time.
    for row in text.lines().take(chars_max) {
        if left == 0 {
            if !out.last().is_some_and(|last| last.ends_with('…')) {
                out.push("…".to_owned());
            }
            break;
        }
        let row = line(row, left);
        left = left.saturating_sub(row.chars().count().max(1));
        if !row.is_empty() || out.last().is_some_and(|last| !last.is_empty()) {
            out.push(row);
        }
    }
    while out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

/// A JSDoc comment with the indentation of what follows it; nothing for no lines.
pub(super) fn comment(rows: &[String], indent: usize) -> String {
    let pad = "  ".repeat(indent);
    let safe = |row: &String| row.replace("*/", "*\\/");
    match rows {
        [] => String::new(),
        [row] => format!("{pad}/** {} */\n", safe(row)),
        rows => {
            let mut out = format!("{pad}/**\n");
            for row in rows {
                // Writing to a string does not fail.
                let _ = writeln!(out, "{}", format!("{pad} * {}", safe(row)).trim_end());
            }
            out.push_str(&pad);
            out.push_str(" */\n");
            out
        }
    }
}

/// Whether a character does not show, or changes how others are shown.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_names_are_closed() {
        for (text, written) in [
            ("a", r#""a""#),
            ("a\"b\\", r#""a\"b\\""#),
            ("a\nb\u{202e}\u{0}", r#""a\nb\u202e\u0000""#),
            ("`${x}`", r#""`${x}`""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
        ] {
            assert_eq!(quoted(text), written);
        }
        for (name, written) in
            [("a", "a"), ("$_1", "$_1"), ("1a", r#""1a""#), ("", r#""""#), ("a-b", r#""a-b""#), ("ä", r#""ä""#)]
        {
            assert_eq!(property(name), written);
        }
        assert_eq!(
            (method("new"), method("get"), method("delete")),
            (r#""new""#.into(), "get".into(), "delete".into())
        );
    }

    #[test]
    fn lines_are_cut() {
        for (text, max, cut) in [
            ("  a \n\t b ", 10, "a b"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("abcd efg", 6, "abcd…"),
            ("ääääää", 3, "ää…"),
            ("a\u{200b}b", 10, "ab"),
            ("", 10, ""),
        ] {
            assert_eq!(line(text, max), cut, "{text:?}");
        }
        assert_eq!(lines("\n\na\n\n\nb\n\n", 10), ["a", "", "b"]);
        assert_eq!(lines("abc\ndef\nghi", 6), ["abc", "def", "…"]);
    }

    #[test]
    fn comments_end_where_they_should() {
        assert_eq!(comment(&[], 1), "");
        assert_eq!(comment(&["a */ b **/".into()], 1), "  /** a *\\/ b **\\/ */\n");
        assert_eq!(comment(&["a".into(), String::new(), "b".into()], 0), "/**\n * a\n *\n * b\n */\n");
        // What is left out must not join what is left.
        assert_eq!(comment(&[line("*\u{200b}/", 9)], 0), "/** *\\/ */\n");
    }
}
