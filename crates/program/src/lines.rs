use std::sync::Arc;

/// The lines of a text, to turn offsets into positions and back.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: LineStarts,
}

/// Where each line of a text begins.
pub(crate) type LineStarts = Arc<[usize]>;

/// Which characters end a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// As ECMAScript has it: LF, CR, CR LF, U+2028 and U+2029.
    Script,
    /// As QuickJS counts them in code that we printed: LF, CR and CR LF.
    Engine,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str, ends: LineEnds) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let next = match byte {
                b'\n' => at + 1,
                b'\r' if bytes.get(at + 1) != Some(&b'\n') => at + 1,
                0xE2 if ends == LineEnds::Script && is_separator(bytes, at) => at + 3,
                _ => continue,
            };
            starts.push(next);
        }
        Lines::with_starts(text, starts.into())
    }

    /// The lines of a text that has been looked through before.
    pub(crate) fn with_starts(text: &'t str, starts: LineStarts) -> Self {
        Lines { text, starts }
    }

    /// Where each line begins.
    pub(crate) fn starts(self) -> LineStarts {
        self.starts
    }

    /// The line of an offset, from 0, and where that line begins.
    pub(crate) fn line_of(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        (line, self.starts[line])
    }

    /// Where a line begins, and where the next one does; lines count from 0.
    pub(crate) fn range(&self, line: usize) -> Option<(usize, usize)> {
        let start = *self.starts.get(line)?;
        Some((start, self.starts.get(line + 1).copied().unwrap_or(self.text.len())))
    }

    /// Line and column of an offset, both from 1, the column in characters. A byte order mark takes no column.
    pub(crate) fn position(&self, offset: usize) -> (u32, u32) {
        let offset = floor(self.text, offset);
        let (line, start) = self.line_of(offset);
        let before = self.text[start..offset].trim_start_matches('\u{feff}');
        (line as u32 + 1, before.chars().count() as u32 + 1)
    }

    /// How many characters there are between two offsets.
    pub(crate) fn characters(&self, from: usize, to: usize) -> usize {
        self.text[floor(self.text, from)..floor(self.text, to)].chars().count()
    }

    /// The text of a line, from 0, without what ends it.
    pub(crate) fn text(&self, line: usize) -> &'t str {
        let Some((start, end)) = self.range(line) else { return "" };
        self.text[start..end].trim_end_matches(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    /// The offsets of many positions at once, in their order; a position is a line and UTF-16 code units, from 0.
    ///
    /// One sweep over the text, because one line may hold all of it.
    pub(crate) fn offsets_utf16(&self, positions: &[(u32, u32)]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_unstable_by_key(|&index| positions[index]);
        let mut offsets = vec![0; positions.len()];
        let (mut line, mut at, mut end, mut units) = (u32::MAX, 0, 0, 0);
        for index in order {
            let (wanted_line, wanted_units) = positions[index];
            if line != wanted_line {
                (line, units) = (wanted_line, 0);
                (at, end) = self.range(line as usize).unwrap_or((self.text.len(), self.text.len()));
            }
            let mut rest = self.text[at..end].chars();
            while units < wanted_units {
                let Some(c) = rest.next() else { break };
                units += c.len_utf16() as u32;
                at += c.len_utf8();
            }
            offsets[index] = at;
        }
        offsets
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn is_separator(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "\u{feff}ab\né😀x\r\ny\rz\u{2028}w\n";
        let lines = Lines::new(text, LineEnds::Script);
        for (needle, expected) in
            [("a", (1, 1)), ("b", (1, 2)), ("é", (2, 1)), ("x", (2, 3)), ("y", (3, 1)), ("z", (4, 1)), ("w", (5, 1))]
        {
            assert_eq!(lines.position(text.find(needle).unwrap()), expected, "{needle}");
        }
        assert_eq!(lines.position(text.len()), (6, 1));
        assert_eq!(lines.position(usize::MAX), (6, 1));
        assert_eq!(lines.text(1), "é😀x");
        assert_eq!(lines.text(9), "");
    }

    #[test]
    fn engines_do_not_count_separators() {
        assert_eq!(Lines::new("a\u{2028}b\nc\rd", LineEnds::Engine).position(9), (3, 2));
    }

    #[test]
    fn utf16_columns_find_their_offset() {
        let text = "a\n😀b";
        let lines = Lines::new(text, LineEnds::Script);
        let offsets = lines.offsets_utf16(&[(1, 99), (1, 2), (0, 1), (7, 0), (1, 0)]);
        assert_eq!(offsets, [text.len(), 6, 1, text.len(), 2]);
    }
}
