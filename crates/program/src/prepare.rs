use crate::compile::{Mapping, compile, explain};
use crate::error::SourceError;
use crate::fault::Fault;
use crate::fence::{self, Fenced};
use crate::hint;
use crate::language::{Flavour, Language};
use crate::prepared::{Origin, Prepared};
use crate::scan::scan;
use isolith_core::{Form, Program};
use std::cmp::Ordering;
use std::ops::Range;

/// Makes a program of whatever an author or a model wrote.
///
/// The text may be a function body with `return` and `await`, a module with `export default`, one function, any of
/// these in a Markdown fence, and it may be TypeScript. What comes out is the body of one async function, printed from
/// a syntax tree that was checked to be exactly that. The last expression is the value of a body that returns nothing;
/// a function as the default export, alone, or as the last expression is called with `input`.
///
/// Imports are refused with the code `import.unknown`, except those of types. The size of the text is for the caller
/// to limit; how deep it nests is limited here. At least 512 KiB of stack should be left.
pub fn prepare(source: &str, name: &str, language: Language) -> Result<Prepared, SourceError> {
    let made = match fence::find(source) {
        Fenced::No => make(source, 0..source.len(), language),
        Fenced::Block(range) => make(source, range, language),
        Fenced::Unclear(fault) => Err(fault),
    };
    let Made { code, origin } = made.map_err(|fault| SourceError::new(fault, source, name))?;
    let program = Program::new(name, code, Form::Body);
    Ok(Prepared::new(program, source.into(), origin))
}

struct Made {
    code: String,
    origin: Origin,
}

fn make(source: &str, range: Range<usize>, language: Language) -> Result<Made, Fault> {
    let range = without_preamble(source, range);
    let text = &source[range.clone()];
    let start = range.start;
    make_from_text(text, range, language).map_err(|fault| fault.shifted(start))
}

fn make_from_text(text: &str, range: Range<usize>, language: Language) -> Result<Made, Fault> {
    let scan = scan(text).map_err(|fault| hint::improve_refusal(fault, text))?;
    let mut worst: Option<(Fault, Flavour)> = None;
    for &flavour in language.flavours(scan.traits.generic_call) {
        let fault = match compile(text, flavour, &scan, Mapping::Off) {
            Ok(printed) => return Ok(Made { code: printed.code, origin: Origin { range, flavour, scan } }),
            Err(fault) => fault,
        };
        if worst.as_ref().is_none_or(|(other, _)| is_more_plausible(&fault, other, flavour)) {
            worst = Some((fault, flavour));
        }
    }
    let (fault, flavour) = worst.ok_or_else(|| Fault::internal("no language was tried"))?;
    Err(hint::improve(explain(fault, text, flavour, &scan), text, &scan))
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
fn without_preamble(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = if rest.starts_with("#!") {
        &rest[rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len())..]
    } else {
        rest
    };
    range.end - rest.len()..range.end
}
