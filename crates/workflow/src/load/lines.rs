/// Where the lines of a text begin, as JavaScript counts lines.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let ends =
            text.char_indices().filter(|&(at, c)| is_line_end(c) && !(c == '\r' && bytes.get(at + 1) == Some(&b'\n')));
        Lines { text, starts: std::iter::once(0).chain(ends.map(|(at, c)| at + c.len_utf8())).collect() }
    }

    /// The line and the column of an offset, both from 1, the column in characters.
    pub(crate) fn position(&self, offset: u32) -> (u32, u32) {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        (line as u32, column as u32)
    }
}

pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
