use super::lines::is_line_end;
use oxc::span::Span;

/// Changes to a text that leave every line where it was.
pub(crate) struct Edits<'t> {
    text: &'t str,
    edits: Vec<(usize, usize, String)>,
}

impl<'t> Edits<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Edits { text, edits: Vec::new() }
    }

    /// Takes a statement out. A semicolon stays, or the statements around it could become one.
    pub(crate) fn remove_statement(&mut self, span: Span) {
        self.replace(span.start, span.end, ";");
    }

    /// Puts a text of one line in the place of another one: spaces make up for what is shorter, so that columns stay too.
    pub(crate) fn replace(&mut self, start: u32, end: u32, with: &str) {
        let (start, end) = (start as usize, end as usize);
        let old = self.text.get(start..end).unwrap_or_default();
        let blank: Vec<char> = old.chars().map(|c| if is_line_end(c) { c } else { ' ' }).collect();
        let room = blank.iter().take_while(|&&c| c == ' ').count();
        let kept = &blank[room.min(with.chars().count())..];
        self.edits.push((start, end, with.chars().chain(kept.iter().copied()).collect()));
    }

    pub(crate) fn insert(&mut self, at: u32, text: &str) {
        self.edits.push((at as usize, at as usize, text.to_owned()));
    }

    /// The text with all changes made.
    pub(crate) fn finish(mut self) -> String {
        self.edits.sort_by_key(|&(start, end, _)| (start, end));
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (start, end, with) in &self.edits {
            out.push_str(self.text.get(at..*start).unwrap_or_default());
            out.push_str(with);
            at = *end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_stay() {
        let text = "a\nimport {\r\n  b } from 'é'\nexport default c\u{2028}d";
        let mut edits = Edits::new(text);
        edits.remove_statement(Span::new(2, 27));
        edits.replace(28, 43, "return (");
        edits.insert(44, ")");
        assert_eq!(edits.finish(), "a\n;       \r\n              \nreturn (       c)\u{2028}d");
    }

    #[test]
    fn what_is_longer_keeps_the_lines_too() {
        let mut edits = Edits::new("export\ndefault x");
        edits.replace(0, 15, "const a_long_name = ");
        assert_eq!(edits.finish(), "const a_long_name = \n        x");
    }
}
