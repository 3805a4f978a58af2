use crate::fault::{Fault, code};
use std::ops::Range;

/// Where the program is in a text that may be a Markdown answer around it.
pub(crate) enum Fenced {
    /// No fence: the whole text is the program.
    No,
    /// Between the fences of the only block.
    Block(Range<usize>),
    /// A Markdown text that does not say which program is meant.
    Unclear(Fault),
}

/// A line of at least three backticks or tildes.
struct Fence<'t> {
    mark: char,
    length: usize,
    /// What stands behind an opening fence: `ts`, `js title="x"`.
    info: &'t str,
    /// Of the whole line, with what ends it.
    range: Range<usize>,
    /// Nothing stands before it.
    begins: bool,
    /// It is in a comment or a template.
    in_code: bool,
}

/// Languages whose blocks are certainly not programs for us.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "bash", "c", "cpp", "csharp", "css", "diff", "go", "graphql", "html", "ini", "java", "json", "kotlin", "lua",
    "markdown", "md", "perl", "php", "powershell", "py", "python", "r", "rb", "rs", "ruby", "rust", "sh", "shell",
    "sql", "swift", "toml", "xml", "yaml", "yml", "zsh",
];

/// Finds the fenced block of a Markdown text.
///
/// In a program, no line that makes sense begins with three backticks: a template would end at the first of them. So
/// such a line is a fence, unless it is in a comment or backticks before it show that it is in a template after all.
/// Tildes are operators; they count only at the very beginning.
pub(crate) fn find(text: &str) -> Fenced {
    if !text.contains("```") && !text.contains("~~~") {
        return Fenced::No;
    }
    let mut fences = fences(text).skip_while(|fence| !fence.begins && (fence.mark == '~' || fence.in_code));
    let Some(open) = fences.next() else { return Fenced::No };
    let closes = |fence: &Fence<'_>| fence.mark == open.mark && fence.length >= open.length && fence.info.is_empty();
    let close = fences.find(closes);
    let end = match &close {
        Some(close) => close.range.start,
        // An answer that was cut off.
        None if open.begins => text.len(),
        // The end of a fence whose beginning was lost.
        None if open.info.is_empty() && text[open.range.end..].trim().is_empty() => {
            return Fenced::Block(0..open.range.start);
        }
        None => return Fenced::No,
    };
    if let Some(second) = fences.next() {
        return Fenced::Unclear(
            Fault::new(second.range.start, code::FENCE, "there is more than one fenced block")
                .hint("send one program, in one block"),
        );
    }
    let language = open.info.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
    if FOREIGN.contains(&language.as_str()) {
        return Fenced::Unclear(
            Fault::new(open.range.start, code::FENCE, format!("the fenced block is `{language}`"))
                .hint("programs are JavaScript or TypeScript"),
        );
    }
    Fenced::Block(open.range.end..end)
}

fn fences(text: &str) -> impl Iterator<Item = Fence<'_>> {
    let mut start = 0;
    // Of what stands before the present line.
    let (mut blank, mut in_comment, mut in_template) = (true, false, false);
    text.split_inclusive('\n').filter_map(move |line| {
        let range = start..start + line.len();
        let (begins, in_code) = (blank, in_comment || in_template);
        let trimmed = line.trim_start_matches('\u{feff}').trim();
        start = range.end;
        blank &= trimmed.is_empty();
        in_template ^= line.matches('`').count() % 2 == 1;
        let (comment, end) = (line.rfind("/*"), line.rfind("*/"));
        if comment.is_some() || end.is_some() {
            in_comment = comment > end;
        }
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = trimmed.trim_start_matches(mark);
        let length = trimmed.len() - info.len();
        // Three backticks and another one behind are code in a line, not a fence.
        let is_fence = length >= 3 && !info.contains('`');
        is_fence.then(|| Fence { mark, length, info: info.trim(), range, begins, in_code })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_block_is_found() {
        let rows: &[(&str, Option<&str>)] = &[
            ("return 1", None),
            ("```ts\nreturn 1\n```", Some("return 1\n")),
            ("```\nreturn 1\n```\n", Some("return 1\n")),
            ("Here you go:\n\n```typescript\nreturn 1\n```\nIt returns one.", Some("return 1\n")),
            ("~~~js title=\"a.js\"\nreturn 1\n~~~", Some("return 1\n")),
            ("````js\nreturn `\n```\n`\n````", Some("return `\n```\n`\n")),
            ("```js\r\nreturn 1\r\n```\r\n", Some("return 1\r\n")),
            ("  ```js\n  return 1\n  ```", Some("  return 1\n")),
            ("```js\nreturn 1", Some("return 1")),
            ("```js\n```", Some("")),
            ("use ```x``` here", None),
            ("one\n```js\nreturn 1\n```", Some("return 1\n")),
            ("return 1\n```", Some("return 1\n")),
            ("return 1\n```\n", Some("return 1\n")),
            ("x\n```js\nreturn 1", None),
            ("/*\n```js\nx\n```\n*/ return 1", None),
            ("f(`\n```js\nx\n```\n`)", None),
            ("a\n~~~b\n~~~\nc", None),
            ("Use `this`:\n```\nreturn 1\n```", Some("return 1\n")),
            ("```x``` here", None),
        ];
        for (text, block) in rows {
            match (find(text), block) {
                (Fenced::No, None) => {}
                (Fenced::Block(range), Some(block)) => assert_eq!(&text[range], *block, "{text}"),
                _ => panic!("{text}"),
            }
        }
    }

    #[test]
    fn several_blocks_and_other_languages_are_unclear() {
        for (text, offset) in
            [("```js\n1\n```\nor\n```js\n2\n```", 15), ("```python\nprint(1)\n```", 0), ("```json\n{}\n```", 0)]
        {
            match find(text) {
                Fenced::Unclear(fault) => assert_eq!((fault.code, fault.offset), ("syntax.fence", offset), "{text}"),
                _ => panic!("{text}"),
            }
        }
    }
}
