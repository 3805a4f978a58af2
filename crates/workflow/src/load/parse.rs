//! The syntax tree of a text that may be hostile.

use super::lines::{Lines, is_line_end};
use crate::error::{LoadError, SyntaxFault};
use isolith_program::{Goal, Language, ModuleSource, SourceError, parse_check, prepare, prepare_with};
use oxc::allocator::Allocator;
use oxc::ast::ast::Program;
use oxc::diagnostics::{OxcDiagnostic, Severity};
use oxc::parser::{ParseOptions, Parser};
use oxc::span::SourceType;
use std::thread;

/// Stack for parsing and for walking over the tree: what `isolith-program` provides for the deepest text it accepts. Only
/// what is touched takes memory.
const STACK_BYTES: usize = 256 << 20;

/// What `isolith-program` finds wrong only after it has bounded and parsed a text.
const FOUND_BY_PARSING: [&str; 8] = [
    "syntax",
    "import.unknown",
    "import.outside",
    "import.missing",
    "import.unreadable",
    "import.name",
    "import.program",
    "export.default",
];

/// A parsed text.
pub(crate) struct Tree<'t, 'a> {
    pub(crate) program: &'t Program<'a>,
    /// What was parsed: the author's text, with spaces for what stands before the program.
    pub(crate) text: &'t str,
    pub(crate) lines: Lines<'t>,
    pub(crate) flavour: Flavour,
}

/// How a text was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    JavaScript,
    TypeScript,
}

/// Does `work` with the tree of a text, on a stack that is large enough for any tree.
///
/// THREAT[T-PROGRAM-001]: a text nested 100,000 levels deep overflows the stack of a recursive parser, which ends the
/// process; other texts make a parser of TypeScript try for hours. `isolith-program` refuses both before it parses, so it
/// is asked first.
pub(crate) fn with_tree<T: Send>(
    text: &str,
    name: &str,
    work: impl FnOnce(&Tree<'_, '_>) -> Result<T, LoadError> + Send,
) -> Result<T, LoadError> {
    let text = without_preamble(text);
    let parse = || {
        let allocator = Allocator::default();
        let (program, flavour) = read(&allocator, &text, name)?;
        work(&Tree { program: &program, text: &text, lines: Lines::new(&text), flavour })
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("isolith-workflow".into()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, parse) {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(internal("the parser failed on this file", name))),
            Err(_) => Err(internal("there is no room to parse this file", name)),
        }
    })
}

fn read<'a>(allocator: &'a Allocator, text: &'a str, name: &str) -> Result<(Program<'a>, Flavour), LoadError> {
    if name.ends_with(".js") || name.ends_with(".mjs") {
        bounded(parse_check(text, Goal::Module), name)?;
        if let Ok(program) = parse(allocator, text, Flavour::JavaScript) {
            return Ok((program, Flavour::JavaScript));
        }
    }
    // As a module of its own, because that is read as it stands; a program may be taken out of a Markdown fence.
    let module = ModuleSource { name: "workflow.ts".into(), source: text.to_owned() };
    bounded(prepare_with("", "main.js", Language::JavaScript, &[module]), name)?;
    match parse(allocator, text, Flavour::TypeScript) {
        Ok(program) => Ok((program, Flavour::TypeScript)),
        Err(diagnostic) => Err(explain(&diagnostic, text, name)),
    }
}

/// Whether a text was refused before it was parsed.
fn bounded<T>(checked: Result<T, SourceError>, name: &str) -> Result<(), LoadError> {
    match checked {
        Err(error) if !FOUND_BY_PARSING.contains(&error.code) => Err(LoadError::from_source(error, name)),
        _ => Ok(()),
    }
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str, flavour: Flavour) -> Result<Program<'a>, OxcDiagnostic> {
    let source_type = SourceType::mjs().with_typescript(flavour == Flavour::TypeScript);
    let options = ParseOptions {
        parse_regular_expression: true,
        // The body of a legacy workflow returns; a module may wait at its top anyway.
        allow_return_outside_function: true,
        preserve_parens: true,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(allocator, text, source_type).with_options(options).parse();
    match parsed.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        Some(diagnostic) => Err(diagnostic),
        None if parsed.panicked => Err(OxcDiagnostic::error("the parser gave up without a reason")),
        None => Ok(parsed.program),
    }
}

/// The error of a text that cannot be parsed, in better words if `isolith-program` has them.
fn explain(diagnostic: &OxcDiagnostic, text: &str, name: &str) -> LoadError {
    match prepare(text, name, Language::TypeScript) {
        Err(error) if error.code.starts_with("syntax") && error.code != "syntax.fence" => {
            LoadError::from_source(error, name)
        }
        _ => {
            let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
            let (line, column) = Lines::new(text).position(offset);
            let (message, hint) = (diagnostic.message.to_string(), diagnostic.help.as_ref().map(ToString::to_string));
            LoadError::syntax(SyntaxFault { code: "syntax", message, file: name.to_owned(), line, column, hint })
        }
    }
}

fn internal(message: &str, name: &str) -> LoadError {
    let (message, file) = (message.to_owned(), name.to_owned());
    LoadError::syntax(SyntaxFault { code: "internal", message, file, line: 1, column: 1, hint: None })
}

/// The text with spaces for a byte order mark and a first line for the shell, which may stand only at the beginning.
fn without_preamble(text: &str) -> String {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = if rest.starts_with("#!") { &rest[rest.find(is_line_end).unwrap_or(rest.len())..] } else { rest };
    format!("{}{rest}", " ".repeat(text.len() - rest.len()))
}
