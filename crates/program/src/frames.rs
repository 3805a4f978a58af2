/// The most lines of a stack that are looked at; the guest can make it as long as it likes.
const LINES_MAX: usize = 64;

/// The most bytes of one line of a stack.
const LINE_BYTES_MAX: usize = 1_000;

/// A stack with the positions of the author's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedStack {
    /// The frames, one on each line, without those of our own code.
    pub text: String,
    /// Line of the first frame in the program itself, from 1; frames of its modules do not count.
    pub line: Option<u32>,
    /// Column of that frame, from 1, in characters.
    pub column: Option<u32>,
}

/// Rewrites the frames of a stack as QuickJS writes it; `locate` gives the author's position of a place in the code of the
/// file of this number. The first of the files is the program.
pub(crate) fn map(
    stack: &str,
    files: &[File<'_>],
    locate: impl Fn(usize, u32, u32) -> Option<(u32, u32)>,
) -> MappedStack {
    let mut mapped = MappedStack::default();
    for line in stack.lines().take(LINES_MAX) {
        let line = cut(line);
        match Frame::read(line, files) {
            Frame::Ours => continue,
            Frame::Other => mapped.text.push_str(line),
            Frame::Of { file, before, line, column, after } => {
                // A frame that comes from nowhere in the source is of the function around it.
                let Some((line, column)) = locate(file, line, column) else { continue };
                if mapped.line.is_none() && file == 0 {
                    (mapped.line, mapped.column) = (Some(line), Some(column));
                }
                let name = files[file].shown;
                mapped.text.push_str(&format!("{before}{name}:{line}:{column}{after}"));
            }
        }
        mapped.text.push('\n');
    }
    mapped.text.truncate(mapped.text.trim_end_matches('\n').len());
    mapped
}

/// A file that frames may be of.
#[derive(Clone, Copy)]
pub(crate) struct File<'f> {
    /// What the engine calls it.
    pub(crate) name: &'f str,
    /// What its author calls it.
    pub(crate) shown: &'f str,
}

enum Frame<'l> {
    /// Of the prelude.
    Ours,
    /// Of one of the files, with what stands before its name and behind its position.
    Of { file: usize, before: &'l str, line: u32, column: u32, after: &'l str },
    /// Of something else: a native function, code from `eval`, or no frame at all.
    Other,
}

impl<'l> Frame<'l> {
    /// Reads `    at f (main.ts:3:14)`, `    at f (main.ts:3)` or `    at main.ts:3:14`.
    fn read(line: &'l str, files: &[File<'_>]) -> Self {
        let Some(rest) = line.trim_start().strip_prefix("at ") else { return Frame::Other };
        let (rest, after) = match rest.strip_suffix(')') {
            Some(inner) => (inner, ")"),
            None => (rest, ""),
        };
        // What a function is called is the program's own choice, and a file's name may hold brackets: the last bracket
        // that a file's name follows is the one that opens the place.
        let opens = rest.rmatch_indices('(').map(|(at, _)| &rest[at + 1..]).filter(|_| after == ")");
        let places = opens.chain((after.is_empty()).then_some(rest));
        for place in places {
            if place.starts_with("isolith:prelude") {
                return Frame::Ours;
            }
            let position = |file: &File<'_>| position(place.strip_prefix(file.name)?.strip_prefix(':')?);
            let found = files.iter().enumerate().find_map(|(index, file)| Some((index, position(file)?)));
            if let Some((file, (number, column))) = found {
                let before = &line[..line.len() - after.len() - place.len()];
                return Frame::Of { file, before, line: number, column, after };
            }
        }
        Frame::Other
    }
}

/// Reads `3:14` or `3`.
fn position(text: &str) -> Option<(u32, u32)> {
    let (line, column) = text.split_once(':').unwrap_or((text, "1"));
    Some((line.parse().ok()?, column.parse().ok()?))
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

    const MAIN: File<'_> = File { name: "main.ts", shown: "main.ts" };

    #[test]
    fn frames_are_mapped_dropped_or_kept() {
        let stack = "    at f (main.ts:3:14)\n    at native (native)\n    at log (isolith:prelude:12:1)\n    at <anonymous> (main.ts:4)\n    at x (main.ts:1:1) (main.ts:9:9)\n    at <anonymous> (main.ts:0:1)\n    at eval (<input>:1:1)\n    at main.ts:5:2\n";
        let mapped = map(stack, &[MAIN], |_, line, column| (line > 0).then_some((line + 100, column + 1)));
        assert_eq!(
            mapped.text,
            "    at f (main.ts:103:15)\n    at native (native)\n    at <anonymous> (main.ts:104:2)\n    at x (main.ts:1:1) (main.ts:109:10)\n    at eval (<input>:1:1)\n    at main.ts:105:3"
        );
        assert_eq!((mapped.line, mapped.column), (Some(103), Some(15)));
    }

    #[test]
    fn frames_of_modules_have_their_own_files() {
        let hidden = File { name: "/.lib/(a) b.ts", shown: ".lib/(a) b.ts" };
        let files = [MAIN, File { name: "lib/main.ts", shown: "lib/main.ts" }, hidden];
        let stack = "    at f (lib/main.ts:3:14)\n    at g (/.lib/(a) b.ts:1:2)\n    at <anonymous> (main.ts:4)\n    at h (other/main.ts:1:1)\n    at lib/main.ts:5:2\n";
        let mapped = map(stack, &files, |file, line, column| Some((line + 10 * file as u32, column)));
        assert_eq!(
            mapped.text,
            "    at f (lib/main.ts:13:14)\n    at g (.lib/(a) b.ts:21:2)\n    at <anonymous> (main.ts:4:1)\n    at h (other/main.ts:1:1)\n    at lib/main.ts:15:2"
        );
        assert_eq!((mapped.line, mapped.column), (Some(4), Some(1)), "of the program, not of a module");
    }

    #[test]
    fn nonsense_is_bounded_and_kept() {
        let long = format!("{}\n{}", "é".repeat(10_000), "x\n".repeat(10_000));
        let files = [File { name: "a", shown: "a" }];
        let mapped = map(&long, &files, |_, _, _| None);
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
            assert_eq!(map(line, &files, |_, _, _| Some((1, 1))).text, line);
        }
    }
}
