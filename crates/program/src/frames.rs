/// The most lines of a stack that are looked at; the guest can make it as long as it likes.
const LINES_MAX: usize = 64;

/// The most bytes of one line of a stack.
const LINE_BYTES_MAX: usize = 1_000;

/// A stack with the positions of the author's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedStack {
    /// The frames, one on each line, without those of our own code.
    pub text: String,
    /// Line of the first frame in the author's source, from 1.
    pub line: Option<u32>,
    /// Column of that frame, from 1, in characters.
    pub column: Option<u32>,
}

/// Rewrites the frames of a stack as QuickJS writes it; `locate` gives the author's position of one in the code.
pub(crate) fn map(stack: &str, name: &str, locate: impl Fn(u32, u32) -> Option<(u32, u32)>) -> MappedStack {
    let mut mapped = MappedStack::default();
    for line in stack.lines().take(LINES_MAX) {
        let line = cut(line);
        match Frame::read(line, name) {
            Frame::Ours => continue,
            Frame::Other => mapped.text.push_str(line),
            Frame::Program { before, line, column, after } => {
                // A frame that comes from nowhere in the source is of the function around it.
                let Some((line, column)) = locate(line, column) else { continue };
                if mapped.line.is_none() {
                    (mapped.line, mapped.column) = (Some(line), Some(column));
                }
                mapped.text.push_str(&format!("{before}{name}:{line}:{column}{after}"));
            }
        }
        mapped.text.push('\n');
    }
    mapped.text.truncate(mapped.text.trim_end_matches('\n').len());
    mapped
}

enum Frame<'l> {
    /// Of the prelude.
    Ours,
    /// Of the program, with what stands before its name and behind its position.
    Program { before: &'l str, line: u32, column: u32, after: &'l str },
    /// Of something else: a native function, code from `eval`, or no frame at all.
    Other,
}

impl<'l> Frame<'l> {
    /// Reads `    at f (main.ts:3:14)`, `    at f (main.ts:3)` or `    at main.ts:3:14`.
    fn read(line: &'l str, name: &str) -> Self {
        let Some(rest) = line.trim_start().strip_prefix("at ") else { return Frame::Other };
        let (place, after) = match (rest.strip_suffix(')'), rest.rfind('(')) {
            // The last bracket: what a function is called is the program's own choice.
            (Some(inner), Some(open)) => (&inner[open + 1..], ")"),
            _ => (rest, ""),
        };
        if place.starts_with("isolith:prelude") {
            return Frame::Ours;
        }
        let Some(position) = place.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) else {
            return Frame::Other;
        };
        let mut numbers = position.splitn(2, ':').map(str::parse::<u32>);
        let (Some(Ok(number)), column) = (numbers.next(), numbers.next()) else { return Frame::Other };
        let Ok(column) = column.unwrap_or(Ok(1)) else { return Frame::Other };
        let before = &line[..line.len() - after.len() - place.len()];
        Frame::Program { before, line: number, column, after }
    }
}

fn cut(line: &str) -> &str {
    let mut end = line.len().min(LINE_BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_mapped_dropped_or_kept() {
        let stack = "    at f (main.ts:3:14)\n    at native (native)\n    at log (isolith:prelude:12:1)\n    at <anonymous> (main.ts:4)\n    at x (main.ts:1:1) (main.ts:9:9)\n    at <anonymous> (main.ts:0:1)\n    at eval (<input>:1:1)\n    at main.ts:5:2\n";
        let mapped = map(stack, "main.ts", |line, column| (line > 0).then_some((line + 100, column + 1)));
        assert_eq!(
            mapped.text,
            "    at f (main.ts:103:15)\n    at native (native)\n    at <anonymous> (main.ts:104:2)\n    at x (main.ts:1:1) (main.ts:109:10)\n    at eval (<input>:1:1)\n    at main.ts:105:3"
        );
        assert_eq!((mapped.line, mapped.column), (Some(103), Some(15)));
    }

    #[test]
    fn nonsense_is_bounded_and_kept() {
        let long = format!("{}\n{}", "é".repeat(10_000), "x\n".repeat(10_000));
        let mapped = map(&long, "a", |_, _| None);
        assert!(mapped.text.len() < 2_000, "{}", mapped.text.len());
        for line in [
            "at",
            "at (",
            "at )",
            "at ()",
            "at (a:)",
            "at (a:x:1)",
            "at (a:1:x)",
            "at a:",
            "at (a:99999999999:1)",
            ")(",
        ] {
            assert_eq!(map(line, "a", |_, _| Some((1, 1))).text, line);
        }
    }
}
