use crate::error::SourceError;
use crate::parse;
use crate::scan::scan;
use crate::stack::with_stack;
use oxc::allocator::Allocator;
use oxc::parser::{ParseOptions, Parser};
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;

/// What ECMAScript calls the goal symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A classic script.
    Script,
    /// A module.
    Module,
}

/// Checks that a text is JavaScript, with the same parser and the same limits as [`prepare`](crate::prepare()).
///
/// Nothing is made of it: this is how the parser is held against ECMAScript's own tests.
pub fn parse_check(source: &str, goal: Goal) -> Result<(), SourceError> {
    let checked = scan(source).and_then(|found| {
        with_stack(found.deepest, || {
            let allocator = Allocator::default();
            let source_type = match goal {
                Goal::Script => SourceType::script(),
                Goal::Module => SourceType::mjs(),
            };
            let options = ParseOptions { allow_return_outside_function: false, ..parse::options() };
            let parsed = Parser::new(&allocator, source, source_type).with_options(options).parse();
            let text = parse::Text::whole(source);
            if let Some(fault) = text.first_fault(&parsed.diagnostics, source) {
                return Err(fault);
            }
            let checked = SemanticBuilder::new_compiler().build(&parsed.program);
            text.first_fault(&checked.diagnostics, source).map_or(Ok(()), Err)
        })
    });
    checked.map_err(|fault| SourceError::new(fault, source, "script.js"))
}
