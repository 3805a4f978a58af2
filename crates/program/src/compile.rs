//! From a text to code: parse, shape, check, strip, print.

use crate::fault::{Fault, Reached, code};
use crate::finder::{Rarity, find};
use crate::imports::known::Imports;
use crate::imports::mark::{mark_later, mark_module};
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
use oxc::semantic::{Scoping, SemanticBuilder};
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};
use std::path::Path;

/// Whether positions are wanted too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mapping {
    Off,
    On,
}

/// What a text is to become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The body of one async function.
    Program,
    /// An ECMAScript module that others import.
    Module,
}

/// What a text is to become, and what it may import.
#[derive(Clone, Copy)]
pub(crate) struct Unit<'k> {
    pub(crate) role: Role,
    pub(crate) imports: Imports<'k>,
}

/// Turns a text into the body of one async function or into a module, on a stack that is large enough for it.
pub(crate) fn compile(
    text: &str,
    flavour: Flavour,
    scan: &Scan,
    mapping: Mapping,
    unit: Unit<'_>,
) -> Result<Printed, Fault> {
    let levels = match flavour {
        Flavour::JavaScript => scan.deepest,
        Flavour::TypeScript => match scan.typed_too_costly {
            Some(offset) => return Err(Fault::too_costly(offset)),
            None => scan.typed_deepest,
        },
    };
    with_stack(levels, || compile_here(text, flavour, scan, mapping, unit))
}

/// Says better what [`compile`] found wrong with a text in this flavour.
pub(crate) fn explain(fault: Fault, text: &str, flavour: Flavour, scan: &Scan, role: Role) -> Fault {
    let is_module = scan.traits.module || role == Role::Module;
    if fault.code != code::SYNTAX || fault.reached != Reached::Tokens || is_module {
        return fault;
    }
    // It has been parsed once in this flavour, so it is neither too deep nor too costly.
    let levels = scan.deepest.max(scan.typed_deepest);
    with_stack(levels, || Ok(parse::bare_fault(text, flavour))).ok().flatten().unwrap_or(fault)
}

fn compile_here(text: &str, flavour: Flavour, scan: &Scan, mapping: Mapping, unit: Unit<'_>) -> Result<Printed, Fault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, flavour, scan.traits, unit.role)?;
    reject_leniency(&parsed, flavour, scan.traits)?;
    let finished = finish(&allocator, parsed, flavour, scan.traits, mapping, unit);
    finished.map_err(|fault| fault.reaching(Reached::Syntax))
}

/// Reads a text as what it is, or has to be.
pub(crate) fn parse<'a>(
    allocator: &'a Allocator,
    text: &str,
    flavour: Flavour,
    traits: Traits,
    role: Role,
) -> Result<Parsed<'a>, Fault> {
    match (role, traits.module) {
        (Role::Module, _) => parse::module_alone(allocator, text, flavour),
        (Role::Program, true) => parse::module(allocator, text, flavour),
        (Role::Program, false) => parse::body(allocator, text, flavour),
    }
}

/// The syntax tree of a text that [`compile`] accepts, shaped to what it becomes, with its types still in it.
pub(crate) fn tree<'a>(
    allocator: &'a Allocator,
    text: &str,
    flavour: Flavour,
    traits: Traits,
    unit: Unit<'_>,
) -> Result<Parsed<'a>, Fault> {
    let mut parsed = parse(allocator, text, flavour, traits, unit.role)?;
    shape(allocator, &mut parsed, flavour, traits, unit)?;
    parsed.program.source_type = result_type(flavour, unit.role);
    Ok(parsed)
}

fn shape<'a>(
    allocator: &'a Allocator,
    parsed: &mut Parsed<'a>,
    flavour: Flavour,
    traits: Traits,
    Unit { role, imports }: Unit<'_>,
) -> Result<(), Fault> {
    let builder = AstBuilder::new(allocator);
    if role == Role::Module {
        return mark_module(parsed, flavour, imports, &builder);
    }
    let Parsed { program, text } = parsed;
    mark_later(program, imports, &builder);
    if traits.module {
        return flatten(program, &builder, *text, imports);
    }
    let (directives, statements) = (&mut program.directives, &mut program.body);
    Shaper { directives, statements, builder: &builder, input_is_imported: false }.give_value();
    Ok(())
}

/// A function body without its function is what the checker knows as CommonJS.
fn result_type(flavour: Flavour, role: Role) -> SourceType {
    let result = match role {
        Role::Program => SourceType::cjs(),
        Role::Module => SourceType::mjs(),
    };
    result.with_typescript(flavour == Flavour::TypeScript)
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
    unit: Unit<'_>,
) -> Result<Printed, Fault> {
    shape(allocator, &mut parsed, flavour, traits, unit)?;
    let Parsed { mut program, text } = parsed;
    // The parser takes it in a module, but what runs is a function.
    let may_hold_meta = (traits.module || unit.role == Role::Module) && program.source_text.contains("meta");
    if let Some(at) = may_hold_meta.then(|| find(&program, Rarity::ImportMeta)).flatten() {
        return Err(Fault::syntax(text.offset(at), "`import.meta` is not available")
            .hint("a program has no address of its own"));
    }
    if let Some(at) = traits.accessor.then(|| find(&program, Rarity::Accessor)).flatten() {
        return Err(Fault::syntax(text.offset(at), "`accessor` fields are not supported")
            .hint("write a `get` and a `set` method"));
    }
    program.source_type = result_type(flavour, unit.role);
    let changing = check_and_strip(allocator, &mut program, flavour, text, unit.role)?;
    Ok(Printed { changing, ..print(allocator, program, text, mapping) })
}

/// Early errors, and then everything that is only TypeScript's. Gives the variables of a module that it changes.
fn check_and_strip<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    flavour: Flavour,
    text: Text,
    role: Role,
) -> Result<Vec<String>, Fault> {
    // The values of enum members have to be known to tell numbers, which are mapped back to their names, from strings.
    let checked = SemanticBuilder::new_compiler().with_enum_eval(flavour == Flavour::TypeScript).build(program);
    if let Some(fault) = text.first_fault(&checked.diagnostics, program.source_text) {
        return Err(fault);
    }
    let scoping = checked.semantic.into_scoping();
    let changing = if role == Role::Module { changing(&scoping) } else { Vec::new() };
    if flavour == Flavour::JavaScript {
        return Ok(changing);
    }
    let options = TransformOptions::default();
    let stripped = Transformer::new(allocator, Path::new("program.ts"), &options).build_with_scoping(scoping, program);
    if let Some(fault) = text.first_fault(&stripped.diagnostics, program.source_text) {
        return Err(fault);
    }
    if role == Role::Program {
        let builder = AstBuilder::new(allocator);
        let (directives, statements) = (&mut program.directives, &mut program.body);
        Shaper { directives, statements, builder: &builder, input_is_imported: false }.keep_valueless();
    }
    Ok(changing)
}

fn changing(scoping: &Scoping) -> Vec<String> {
    let bindings = scoping.get_bindings(scoping.root_scope_id()).iter();
    bindings.filter(|(_, symbol)| scoping.symbol_is_mutated(**symbol)).map(|(name, _)| name.to_string()).collect()
}
