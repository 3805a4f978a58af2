use crate::compile::{Mapping, Role, Unit, compile, explain};
use crate::error::SourceError;
use crate::fault::Fault;
use crate::fence::{self, Fenced};
use crate::hint;
use crate::imports::known::{Imports, Known};
use crate::imports::outline::{Export, Outline};
use crate::imports::path::Kind;
use crate::imports::refusal::Refusal;
use crate::imports::{MODULES_MAX, ModuleSource, json_code, outline_of};
use crate::language::{Flavour, Language};
use crate::part::{Origin, Part};
use crate::prepared::Prepared;
use crate::print::Printed;
use crate::scan::scan;
use isolith_core::{Form, Program};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Makes a program of whatever an author or a model wrote.
///
/// The text may be a function body with `return` and `await`, a module with `export default`, one function, any of
/// these in a Markdown fence, and it may be TypeScript. What comes out is the body of one async function, printed from
/// a syntax tree that was checked to be exactly that. The last expression is the value of a body that returns nothing;
/// a function as the default export, alone, or as the last expression is called with `input`.
///
/// Imports are refused with the code `import.unknown`, except those of types; [`prepare_with()`] takes modules. The size
/// of the text is for the caller to limit; how deep it nests is limited here. At least 512 KiB of stack should be left.
pub fn prepare(source: &str, name: &str, language: Language) -> Result<Prepared, SourceError> {
    prepare_with(source, name, language, &[])
}

/// Makes a program that imports these modules, which [`find_modules()`](crate::find_modules()) has found.
///
/// `name` is the program's path among them. Imports of the program become variables at its front that wait for their
/// modules; the modules stay modules, without their types, and import each other by their full names. A name that is
/// imported and not exported is an error before anything runs. An error names the file that it is in.
pub fn prepare_with(
    source: &str,
    name: &str,
    language: Language,
    modules: &[ModuleSource],
) -> Result<Prepared, SourceError> {
    let failed = |fault: Fault| SourceError::new(fault, source, name);
    if modules.len() > MODULES_MAX {
        return Err(failed(Refusal::TooMany.fault("", 0)));
    }
    let range = program_range(source).map_err(failed)?;
    let (mut known, mut parts) = (Known::default(), Vec::new());
    if !modules.is_empty() {
        // What cannot be parsed imports nothing, and is refused below.
        let outline = outline_of(&source[range.clone()], language, Role::Program).unwrap_or_default();
        known = Known::new(name, modules.iter().map(|module| (module.name.clone(), module_outline(module))));
        known.check_size(&outline).map_err(failed)?;
        parts = make_modules(&mut known, modules)?;
        let checked = Imports { known: &known, importer: name }.check(&outline);
        checked.map_err(|fault| failed(fault.shifted(range.start)))?;
    }
    let imports = Imports { known: &known, importer: name };
    let made = make(source, range, language, Unit { role: Role::Program, imports }).map_err(failed)?;
    let program = Program::new(name, made.code, Form::Body);
    let program = Program { modules: parts.iter().map(Part::to_module).collect(), ..program };
    let main = Part::program(name, source, Arc::clone(&program.code), made.origin);
    Ok(Prepared::new(program, main, parts, known))
}

/// Makes the modules of a program, and learns which of their variables change.
fn make_modules(known: &mut Known, modules: &[ModuleSource]) -> Result<Vec<Part>, SourceError> {
    let mut parts = Vec::with_capacity(modules.len());
    for file @ ModuleSource { name, source } in modules {
        let failed = |fault: Fault| SourceError::new(fault, source, name);
        let (code, origin) = match Kind::of(name) {
            None => return Err(failed(Refusal::NoModule(name.clone()).fault(name, 0))),
            Some(Kind::Json) => (json_code(source).map_err(failed)?, None),
            Some(Kind::Code(language)) => {
                let unit = Unit { role: Role::Module, imports: Imports { known, importer: name } };
                let made = make(source, 0..source.len(), language, unit).map_err(failed)?;
                if let Some(module) = known.modules.get_mut(name) {
                    module.changing = made.changing.into_iter().collect();
                }
                (made.code, Some(made.origin))
            }
        };
        parts.push(Part::module(file, code, origin));
    }
    for ModuleSource { name, source } in modules {
        let Some(module) = known.modules.get(name) else { continue };
        let checked = Imports { known, importer: name }.check(&module.outline);
        let start = without_preamble(source, 0..source.len()).start;
        checked.map_err(|fault| SourceError::new(fault.shifted(start), source, name))?;
    }
    Ok(parts)
}

fn module_outline(module: &ModuleSource) -> Outline {
    match Kind::of(&module.name) {
        Some(Kind::Code(language)) => {
            let range = without_preamble(&module.source, 0..module.source.len());
            outline_of(&module.source[range], language, Role::Module).unwrap_or_default()
        }
        Some(Kind::Json) => Outline { exports: [("default".to_owned(), Export::value())].into(), ..Outline::default() },
        None => Outline::default(),
    }
}

/// The part of a text that is the program.
pub(crate) fn program_range(source: &str) -> Result<Range<usize>, Fault> {
    let range = match fence::find(source) {
        Fenced::No => 0..source.len(),
        Fenced::Block(range) => range,
        Fenced::Unclear(fault) => return Err(fault),
    };
    Ok(without_preamble(source, range))
}

struct Made {
    code: String,
    origin: Origin,
    changing: Vec<String>,
}

fn make(source: &str, range: Range<usize>, language: Language, unit: Unit<'_>) -> Result<Made, Fault> {
    let range = without_preamble(source, range);
    let text = &source[range.clone()];
    let start = range.start;
    make_from_text(text, range, language, unit).map_err(|fault| fault.shifted(start))
}

fn make_from_text(text: &str, range: Range<usize>, language: Language, unit: Unit<'_>) -> Result<Made, Fault> {
    let scan = scan(text).map_err(|fault| hint::improve_refusal(fault, text))?;
    let mut worst: Option<(Fault, Flavour)> = None;
    for &flavour in language.flavours(scan.traits.generic_call) {
        let fault = match compile(text, flavour, &scan, Mapping::Off, unit) {
            Ok(Printed { code, changing, .. }) => {
                return Ok(Made { code, origin: Origin { range, flavour, scan }, changing });
            }
            Err(fault) => fault,
        };
        if worst.as_ref().is_none_or(|(other, _)| is_more_plausible(&fault, other, flavour)) {
            worst = Some((fault, flavour));
        }
    }
    let (fault, flavour) = worst.ok_or_else(|| Fault::internal("no language was tried"))?;
    Err(hint::improve(explain(fault, text, flavour, &scan, unit.role), text, &scan))
}

/// Of two readings of a text, the one that got further is more likely meant. Where both stopped at the same place,
/// TypeScript says it better: JavaScript would only say that there is TypeScript.
fn is_more_plausible(fault: &Fault, other: &Fault, flavour: Flavour) -> bool {
    match (fault.reached, fault.offset).cmp(&(other.reached, other.offset)) {
        Ordering::Less => false,
        Ordering::Equal => flavour == Flavour::TypeScript,
        Ordering::Greater => true,
    }
}

/// Leaves out a byte order mark and a first line for the shell.
pub(crate) fn without_preamble(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = if rest.starts_with("#!") {
        &rest[rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len())..]
    } else {
        rest
    };
    range.end - rest.len()..range.end
}
