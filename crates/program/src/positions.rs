use crate::lines::{LineEnds, LineStarts, Lines};

/// Where the printed code comes from in the author's source.
pub(crate) struct Positions {
    /// Offsets of the code and of the source, in the order of the code.
    pairs: Vec<(u32, u32)>,
    code_lines: LineStarts,
    source_lines: LineStarts,
}

impl Positions {
    /// `pairs` as the printer made them, of a text that begins at `start` in the source.
    pub(crate) fn new(mut pairs: Vec<(u32, u32)>, start: usize, code: &str, source: &str) -> Self {
        for pair in &mut pairs {
            pair.1 += start as u32;
        }
        let code_lines = Lines::new(code, LineEnds::Engine).starts();
        let source_lines = Lines::new(source, LineEnds::Script).starts();
        Positions { pairs, code_lines, source_lines }
    }

    /// The place in the source of a place in the code; lines and columns count from 1, columns of code in bytes.
    pub(crate) fn locate(&self, code: &str, source: &str, line: u32, column: u32) -> Option<(u32, u32)> {
        let lines = Lines::with_starts(code, self.code_lines.clone());
        let (start, end) = lines.range(line.checked_sub(1)? as usize)?;
        // A column past the end of its line is the end of that line.
        let last = end.saturating_sub(1).max(start);
        let offset = start.saturating_add(column.saturating_sub(1) as usize).min(last) as u32;
        let next = self.pairs.partition_point(|pair| pair.0 <= offset);
        let before = next.checked_sub(1).map(|index| self.pairs[index]);
        let on_line = |pair: &(u32, u32)| (start as u32..end as u32).contains(&pair.0);
        // A line of code knows best itself where it comes from.
        let pair = before.filter(on_line).or(self.pairs.get(next).copied().filter(on_line)).or(before)?;
        Some(Lines::with_starts(source, self.source_lines.clone()).position(pair.1 as usize))
    }
}
