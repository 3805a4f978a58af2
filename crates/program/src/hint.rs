//! What is likely meant where a program cannot be parsed.

use crate::fault::{Fault, code};
use crate::finder::{Rarity, find};
use crate::parse;
use crate::scan::Scan;
use crate::stack::with_stack;
use oxc::allocator::Allocator;

/// The largest text that is searched for markup.
const JSX_BYTES_MAX: usize = 64 << 10;

const PYTHON: &str = "this looks like Python, but programs are JavaScript or TypeScript";

/// How many words in a row make a sentence.
const SENTENCE_WORDS: usize = 4;

/// Says more about a syntax error, where the text gives its author away.
pub(crate) fn improve(fault: Fault, text: &str, scan: &Scan) -> Fault {
    if fault.code != code::SYNTAX {
        return fault;
    }
    if looks_like_python(text) {
        return fault.hint(PYTHON);
    }
    if looks_like_prose(text, fault.offset) {
        return fault.hint("this looks like plain text: send the program alone, or in one fenced block");
    }
    if let Some(offset) = first_jsx(text, scan) {
        return Fault::new(offset, code::JSX, "JSX is not supported")
            .hint("build markup as a string: a program has neither a page nor React");
    }
    fault
}

/// The same for a text that was not even parsed.
pub(crate) fn improve_refusal(fault: Fault, text: &str) -> Fault {
    if fault.code == code::DECORATOR && looks_like_python(text) {
        return Fault::syntax(fault.offset, "Unexpected `@`").hint(PYTHON);
    }
    fault
}

/// Where the first markup is, if the text is a program with markup in it.
fn first_jsx(text: &str, scan: &Scan) -> Option<usize> {
    let may_have_tags = text.contains("</") || text.contains("/>");
    // The scan knows nothing of markup, whose tags nest and whose text may look like anything, so only a small text is
    // read once more, with a level for each of its bytes.
    if !may_have_tags || scan.typed_too_costly.is_some() || text.len() > JSX_BYTES_MAX {
        return None;
    }
    let found = with_stack(text.len() as u32, || {
        let allocator = Allocator::default();
        let parsed = parse::with_jsx(&allocator, text);
        Ok(parsed.and_then(|parsed| find(&parsed.program, Rarity::Jsx).map(|at| parsed.text.offset(at))))
    });
    found.ok().flatten()
}

/// Whether the trouble is in the middle of a sentence.
fn looks_like_prose(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let is_word =
        |word: &&str| word.trim_end_matches([',', '.', ':', '!', '?']).chars().all(|c| c.is_alphabetic() || c == '\'');
    line.split_whitespace().take_while(is_word).count() >= SENTENCE_WORDS
}

/// Whether some line could only be Python.
fn looks_like_python(text: &str) -> bool {
    let no_braces = !text.contains('{');
    text.lines().map(str::trim).any(|line| {
        let block = line.ends_with(':');
        let starts = |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
        block && (starts("def") || starts("async def") || starts("elif") || starts("except") || starts("with"))
            || block
                && (starts("if") || starts("for") || starts("while") || starts("class"))
                && !line.contains(['{', '?'])
            || line == "else:" && no_braces
            || line == "try:" && no_braces
            || starts("print") && !line.contains('=')
            || starts("from") && line.contains(" import ")
            || line.starts_with("# ")
            || starts("import") && !line.contains(['"', '\'', '{', '*', '('])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_recognised() {
        for text in [
            "def f():\n    return 1",
            "print \"x\"",
            "import os",
            "import os, sys\nprint(1)",
            "from os import path",
            "if x == 1:\n    y = 2",
            "for i in range(3):\n  print(i)",
            "async def main():\n  pass",
            "class A(B):\n  pass",
            "# a comment\nx = 1",
        ] {
            assert!(looks_like_python(text), "{text}");
        }
        for text in [
            "import x from 'x'",
            "const print = 1; print",
            "switch (a) { case b:\n}",
            "const a = { b:\n1 }",
            "if (a) { b:\nc }",
            "x = y ? z :\nw",
            "default:",
            "import * as a from \"b\"",
        ] {
            assert!(!looks_like_python(text), "{text}");
        }
    }
}
