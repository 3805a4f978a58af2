//! From a text to code: parse, shape, check, strip, print.

use crate::fault::{Fault, Reached, code};
use crate::finder::{Rarity, find};
use crate::language::Flavour;
use crate::module::flatten;
use crate::parse::{self, Parsed, Text};
use crate::print::{Printed, print};
use crate::scan::{Scan, Traits};
use crate::shape::Shaper;
use crate::stack::with_stack;
use oxc::allocator::Allocator;
use oxc::ast::ast::Program;
use oxc::ast::builder::AstBuilder;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};
use std::path::Path;

/// Whether positions are wanted too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mapping {
    Off,
    On,
}

/// Turns the text of a program into the body of one async function, on a stack that is large enough for it.
pub(crate) fn compile(text: &str, flavour: Flavour, scan: &Scan, mapping: Mapping) -> Result<Printed, Fault> {
    let levels = match flavour {
        Flavour::JavaScript => scan.deepest,
        Flavour::TypeScript => match scan.typed_too_costly {
            Some(offset) => return Err(Fault::too_costly(offset)),
            None => scan.typed_deepest,
        },
    };
    with_stack(levels, || compile_here(text, flavour, scan, mapping))
}

/// Says better what [`compile`] found wrong with a text in this flavour.
pub(crate) fn explain(fault: Fault, text: &str, flavour: Flavour, scan: &Scan) -> Fault {
    if fault.code != code::SYNTAX || fault.reached != Reached::Tokens || scan.traits.module {
        return fault;
    }
    // It has been parsed once in this flavour, so it is neither too deep nor too costly.
    let levels = scan.deepest.max(scan.typed_deepest);
    with_stack(levels, || Ok(parse::bare_fault(text, flavour))).ok().flatten().unwrap_or(fault)
}

fn compile_here(text: &str, flavour: Flavour, scan: &Scan, mapping: Mapping) -> Result<Printed, Fault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, flavour, scan.traits)?;
    reject_leniency(&parsed, flavour, scan.traits)?;
    let finished = finish(&allocator, parsed, flavour, scan.traits, mapping);
    finished.map_err(|fault| fault.reaching(Reached::Syntax))
}

fn parse<'a>(allocator: &'a Allocator, text: &str, flavour: Flavour, traits: Traits) -> Result<Parsed<'a>, Fault> {
    match traits.module {
        true => parse::module(allocator, text, flavour),
        false => parse::body(allocator, text, flavour),
    }
}

/// The syntax tree of a text that [`compile`] accepts, shaped to return its value, with its types still in it.
pub(crate) fn tree<'a>(
    allocator: &'a Allocator,
    text: &str,
    flavour: Flavour,
    traits: Traits,
) -> Result<Parsed<'a>, Fault> {
    let mut parsed = parse(allocator, text, flavour, traits)?;
    shape(allocator, &mut parsed, traits)?;
    parsed.program.source_type = body_type(flavour);
    Ok(parsed)
}

fn shape<'a>(allocator: &'a Allocator, parsed: &mut Parsed<'a>, traits: Traits) -> Result<(), Fault> {
    let builder = AstBuilder::new(allocator);
    let Parsed { program, text } = parsed;
    if traits.module {
        return flatten(program, &builder, *text);
    }
    let (directives, statements) = (&mut program.directives, &mut program.body);
    Shaper { directives, statements, builder: &builder }.give_value();
    Ok(())
}

/// A function body without its function, which is what the checker knows as CommonJS.
fn body_type(flavour: Flavour) -> SourceType {
    SourceType::cjs().with_typescript(flavour == Flavour::TypeScript)
}

/// What the parser lets pass although it is wrong.
fn reject_leniency(parsed: &Parsed<'_>, flavour: Flavour, traits: Traits) -> Result<(), Fault> {
    let (rarity, message) = match flavour {
        Flavour::JavaScript if traits.modifier => (Rarity::Modifier, "this is TypeScript, not JavaScript"),
        Flavour::TypeScript if traits.arrowless => {
            (Rarity::Arrowless, "the parameters of a function type must be followed by `=>`")
        }
        _ => return Ok(()),
    };
    find(&parsed.program, rarity).map_or(Ok(()), |at| Err(Fault::syntax(parsed.text.offset(at), message)))
}

fn finish<'a>(
    allocator: &'a Allocator,
    mut parsed: Parsed<'a>,
    flavour: Flavour,
    traits: Traits,
    mapping: Mapping,
) -> Result<Printed, Fault> {
    shape(allocator, &mut parsed, traits)?;
    let Parsed { mut program, text } = parsed;
    // The parser takes it in a module, but what runs is a function.
    let may_hold_meta = traits.module && program.source_text.contains("meta");
    if let Some(at) = may_hold_meta.then(|| find(&program, Rarity::ImportMeta)).flatten() {
        return Err(Fault::syntax(text.offset(at), "`import.meta` is not available")
            .hint("a program has no address of its own"));
    }
    if let Some(at) = traits.accessor.then(|| find(&program, Rarity::Accessor)).flatten() {
        return Err(Fault::syntax(text.offset(at), "`accessor` fields are not supported")
            .hint("write a `get` and a `set` method"));
    }
    program.source_type = body_type(flavour);
    check_and_strip(allocator, &mut program, flavour, text)?;
    Ok(print(allocator, program, text, mapping))
}

/// Early errors, and then everything that is only TypeScript's.
fn check_and_strip<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    flavour: Flavour,
    text: Text,
) -> Result<(), Fault> {
    // The values of enum members have to be known to tell numbers, which are mapped back to their names, from strings.
    let checked = SemanticBuilder::new_compiler().with_enum_eval(flavour == Flavour::TypeScript).build(program);
    if let Some(fault) = text.first_fault(&checked.diagnostics, program.source_text) {
        return Err(fault);
    }
    if flavour == Flavour::JavaScript {
        return Ok(());
    }
    let scoping = checked.semantic.into_scoping();
    let options = TransformOptions::default();
    let stripped = Transformer::new(allocator, Path::new("program.ts"), &options).build_with_scoping(scoping, program);
    if let Some(fault) = text.first_fault(&stripped.diagnostics, program.source_text) {
        return Err(fault);
    }
    let builder = AstBuilder::new(allocator);
    Shaper { directives: &mut program.directives, statements: &mut program.body, builder: &builder }.keep_valueless();
    Ok(())
}
