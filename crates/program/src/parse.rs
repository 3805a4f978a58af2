//! A text read as what it is: the body of one async function, or a module.

use crate::fault::Fault;
use crate::language::Flavour;
use oxc::allocator::Allocator;
use oxc::ast::ast::{Expression, Program, Statement};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::{ParseOptions, Parser};
use oxc::span::SourceType;

/// No option of the parser allows `await` and `return` at the top of a text that is not strict, so a body is parsed
/// inside a function. The line end keeps the author's first line a line of its own.
const HEAD: &str = "async function _() {\n";

/// The line end closes a comment that the author's last line may end in.
const TAIL: &str = "\n}";

/// A text and where the author's part of it begins.
pub(crate) struct Parsed<'a> {
    pub(crate) program: Program<'a>,
    pub(crate) text: Text,
}

/// Which part of a parsed text the author wrote.
#[derive(Clone, Copy, Default)]
pub(crate) struct Text {
    start: usize,
    length: usize,
}

impl Text {
    /// All of a text.
    pub(crate) fn whole(text: &str) -> Self {
        Text { start: 0, length: text.len() }
    }

    /// The offset in the author's text; what lies outside is moved to its nearest end.
    pub(crate) fn offset(self, parsed: u32) -> usize {
        (parsed as usize).saturating_sub(self.start).min(self.length)
    }

    /// Whether an offset of the parsed text is one of the author's.
    pub(crate) fn holds(self, parsed: usize) -> bool {
        (self.start..=self.start + self.length).contains(&parsed)
    }

    /// The fault to report of these diagnostics: the first one in the text.
    pub(crate) fn first_fault(self, diagnostics: &[OxcDiagnostic], parsed: &str) -> Option<Fault> {
        let errors = || diagnostics.iter().filter(|d| d.severity == oxc::diagnostics::Severity::Error);
        let first = errors().min_by_key(|d| place(d).0)?;
        // What the lexer has to say about a token is better than that the parser did not expect it.
        let (at, length) = place(first);
        let better = errors().find(|d| d.message != UNEXPECTED && (at..at + length).contains(&place(d).0));
        Some(self.fault(if first.message == UNEXPECTED { better.unwrap_or(first) } else { first }, parsed))
    }

    fn fault(self, diagnostic: &OxcDiagnostic, parsed: &str) -> Fault {
        let (at, length) = place(diagnostic);
        let offset = self.offset(at as u32);
        let found = match parsed.get(at..at + length) {
            _ if offset >= self.length => "the end of the program".to_owned(),
            None | Some("") => "nothing".to_owned(),
            Some(found) => format!("`{}`", crate::error::tidy(found)),
        };
        let message = match diagnostic.message.split_once(" but found ") {
            _ if diagnostic.message == UNEXPECTED => format!("Unexpected {}", found.trim_start_matches("the ")),
            // The parser names the kind of the token, `Identifier`, and not the token.
            Some((expected, kind)) if kind.starts_with('`') => format!("{expected} but found {found}"),
            _ => diagnostic.message.to_string(),
        };
        let mut fault = Fault::syntax(offset, message);
        fault.hint = diagnostic.help.as_ref().map(ToString::to_string);
        let opened = diagnostic.labels.iter().find(|label| label.label() == Some("Opened here"));
        fault.unclosed = opened.map(|label| self.offset(label.offset()));
        fault
    }
}

/// What the parser says of a token in the wrong place.
const UNEXPECTED: &str = "Unexpected token";

/// What the parser says of a function without a name in the place of a statement.
const NAMELESS: &str = "Expected function name";

/// Where the trouble is in the parsed text, and how long it is.
fn place(diagnostic: &OxcDiagnostic) -> (usize, usize) {
    // Of two places the first is the one in question, except where a name is declared again.
    let again = diagnostic.labels.iter().find(|l| l.label().is_some_and(|text| text.contains("redeclared here")));
    let label = again.or(diagnostic.labels.first());
    label.map_or((0, 0), |label| (label.offset() as usize, label.len() as usize))
}

/// Reads a text as the body of one async function, in sloppy mode.
///
/// THREAT[T-PROGRAM-003]: a text such as `}); f(); ({` closes the function it is put into and runs outside. What is
/// accepted here is exactly one function, whose last brace is ours.
pub(crate) fn body<'a>(allocator: &'a Allocator, text: &str, flavour: Flavour) -> Result<Parsed<'a>, Fault> {
    let source = allocator.alloc_concat_strs_array([HEAD, text, TAIL]);
    let part = Text { start: HEAD.len(), length: text.len() };
    let parsed = parse(allocator, source, SourceType::script().with_typescript(flavour == Flavour::TypeScript), part);
    let broken_out = || Fault::syntax(text.len(), "Unexpected `}`").hint("a closing brace has no opening one");
    let fault = match parsed {
        Ok(mut program) if is_one_function(&program, source.len()) => {
            take_out(&mut program);
            return Ok(Parsed { program, text: part });
        }
        Ok(_) => broken_out(),
        Err(fault) if fault.message == NAMELESS => match lone_function(allocator, text, flavour) {
            Some(parsed) => return Ok(parsed),
            None => return Err(fault),
        },
        Err(fault) => fault,
    };
    Err(fault)
}

/// Reads a text as one function without a name: `async function (input) { … }`.
fn lone_function<'a>(allocator: &'a Allocator, text: &str, flavour: Flavour) -> Option<Parsed<'a>> {
    const HEAD: &str = "async function _() {(\n";
    const TAIL: &str = "\n)}";
    let trimmed = text.trim_end().trim_end_matches(';');
    let source = allocator.alloc_concat_strs_array([HEAD, trimmed, TAIL]);
    let part = Text { start: HEAD.len(), length: trimmed.len() };
    let source_type = SourceType::script().with_typescript(flavour == Flavour::TypeScript);
    let mut program = parse(allocator, source, source_type, part).ok()?;
    if !is_one_function(&program, source.len()) {
        return None;
    }
    take_out(&mut program);
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else { return None };
    let Expression::ParenthesizedExpression(group) = &statement.expression else { return None };
    let is_ours = group.span.start as usize + 2 == HEAD.len() && group.span.end as usize + 1 == source.len();
    let is_function = matches!(group.expression, Expression::FunctionExpression(_));
    (is_ours && is_function).then_some(Parsed { program, text: part })
}

/// Reads a text as a module.
pub(crate) fn module<'a>(allocator: &'a Allocator, text: &str, flavour: Flavour) -> Result<Parsed<'a>, Fault> {
    let source = allocator.alloc_str(text);
    let part = Text::whole(text);
    let program = parse(allocator, source, module_type(flavour), part)?;
    Ok(Parsed { program, text: part })
}

/// Reads a text as a module that stays one: nothing returns there.
pub(crate) fn module_alone<'a>(allocator: &'a Allocator, text: &str, flavour: Flavour) -> Result<Parsed<'a>, Fault> {
    let source = allocator.alloc_str(text);
    let part = Text::whole(text);
    let options = ParseOptions { allow_return_outside_function: false, ..options() };
    let program = parse_with(allocator, source, module_type(flavour), part, options)?;
    Ok(Parsed { program, text: part })
}

/// Reads a text with JSX in it, to find out whether that is what is wrong with it.
pub(crate) fn with_jsx<'a>(allocator: &'a Allocator, text: &str) -> Option<Parsed<'a>> {
    let source = allocator.alloc_str(text);
    let part = Text::whole(text);
    let program = parse(allocator, source, module_type(Flavour::TypeScript).with_jsx(true), part).ok()?;
    Some(Parsed { program, text: part })
}

fn module_type(flavour: Flavour) -> SourceType {
    SourceType::mjs().with_typescript(flavour == Flavour::TypeScript)
}

fn parse<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    source_type: SourceType,
    text: Text,
) -> Result<Program<'a>, Fault> {
    parse_with(allocator, source, source_type, text, options())
}

fn parse_with<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    source_type: SourceType,
    text: Text,
    options: ParseOptions,
) -> Result<Program<'a>, Fault> {
    let parsed = Parser::new(allocator, source, source_type).with_options(options).parse();
    match text.first_fault(&parsed.diagnostics, source) {
        Some(fault) => Err(fault),
        None if parsed.panicked => Err(Fault::internal("the parser gave up without a reason")),
        None => Ok(parsed.program),
    }
}

/// What is wrong with a text that [`body`] has refused, said better.
///
/// The braces around the text make the parser complain in the wrong place about braces that are missing or too many.
/// The text without them is no module, but where it cannot even be parsed the place is right.
pub(crate) fn bare_fault(text: &str, flavour: Flavour) -> Option<Fault> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, module_type(flavour)).with_options(options()).parse();
    parsed.panicked.then(|| Text::whole(text).first_fault(&parsed.diagnostics, text)).flatten()
}

pub(crate) fn options() -> ParseOptions {
    ParseOptions {
        parse_regular_expression: true,
        // A module that returns is accepted: it becomes a function body.
        allow_return_outside_function: true,
        // Without them the parser takes `(a): b` for a label.
        preserve_parens: true,
        ..ParseOptions::default()
    }
}

fn is_one_function(program: &Program<'_>, length: usize) -> bool {
    let [Statement::FunctionDeclaration(function)] = program.body.as_slice() else { return false };
    let Some(body) = &function.body else { return false };
    program.directives.is_empty()
        && function.span.start == 0
        && body.span.start as usize + 2 == HEAD.len()
        && function.span.end as usize == length
        && body.span.end as usize == length
}

/// Takes the program out of the function it was parsed in.
fn take_out(program: &mut Program<'_>) {
    if let Some(Statement::FunctionDeclaration(function)) = program.body.pop()
        && let Some(body) = function.unbox().body
    {
        let body = body.unbox();
        program.directives = body.directives;
        program.body = body.statements;
    }
}
