//! What a program will reach for, told from its text alone.
//!
//! Nothing is run. Names are followed to what they were given, texts are put together as far as they are known, and
//! calls of small functions are looked into. Whatever stays open is said so: an [`Unknown`] or a need that is wider
//! than the call. This is advice on what to grant, and no protection: that is what the grants are for.
//!
//! `facts` is collected in one walk over the tree; `eval` and its neighbours say what an expression can be; `report`
//! makes needs of the calls that lead outside; `egress` and `power` read URLs, paths and names with holes in them.

mod array;
mod bind;
mod call;
mod collect;
mod context;
mod cover;
mod egress;
mod eval;
mod facts;
mod ledger;
mod member;
mod mention;
mod name;
mod place;
mod power;
mod report;
mod text;
mod url;
mod value;

use crate::compile::{Role, Unit, tree};
use crate::error::SourceError;
use crate::imports::known::Imports;
use crate::imports::outline_of;
use crate::language::Language;
use crate::lines::{LineEnds, Lines};
use crate::part::{Origin, Part};
use crate::prepare::prepare;
use crate::prepared::Prepared;
use crate::stack::with_stack;
use eval::Eval;
use isolith_core::Power;
use ledger::Ledger;
use oxc::allocator::Allocator;
use oxc::semantic::SemanticBuilder;

/// Levels of stack for following names from one expression to the next; see [`eval::DEPTH_MAX`].
const EVAL_LEVELS: u32 = 64;

/// What a program will reach for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What it needs, in the order of its text.
    pub needs: Vec<Need>,
    /// Where it needs something that cannot be told.
    pub unknown: Vec<Unknown>,
    /// Where it reads a clock.
    pub clock: Vec<Place>,
    /// Where it draws random numbers.
    pub random: Vec<Place>,
}

/// One thing that a program needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The smallest grant that would do.
    pub power: Power,
    /// Where it is needed.
    pub places: Vec<Place>,
    /// Whether the calls are known in full. Otherwise only the beginning of a path or a pattern of a host is, or no
    /// method, and the power is wider than the calls; the key space `default` is a guess.
    pub exact: bool,
}

/// Something that a program needs and that cannot be told from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// `egress`, `tool`, `kv`, `files`, `invoke` or `secret`.
    pub kind: &'static str,
    /// Where it is needed.
    pub place: Place,
    /// A fragment for people: "the URL comes from `input`".
    pub why: String,
}

/// A place in the author's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// Says what a program will reach for.
///
/// It takes and refuses the same texts as [`prepare()`]. The work is bounded whatever the text is, and what lies beyond
/// the bounds is reported as unknown.
pub fn needs(source: &str, name: &str, language: Language) -> Result<Needs, SourceError> {
    prepare(source, name, language)?.needs()
}

impl Prepared {
    /// Says what the program and its modules will reach for; see [`needs()`].
    ///
    /// Places are those of the program: what a module needs is needed where the program first imports something.
    pub fn needs(&self) -> Result<Needs, SourceError> {
        let mut needs = self.needs_of(self.main(), Role::Program)?;
        if let Some(place) = self.first_import() {
            for module in self.module_parts() {
                needs.add_module(self.needs_of(module, Role::Module)?, &module.name, place);
            }
        }
        Ok(needs)
    }

    fn needs_of(&self, part: &Part, role: Role) -> Result<Needs, SourceError> {
        let Some(Origin { range, flavour, scan }) = &part.origin else { return Ok(Needs::default()) };
        let unit = Unit { role, imports: Imports { known: self.known(), importer: &part.name } };
        let text = &part.source[range.clone()];
        let levels = scan.deepest.max(scan.typed_deepest) + EVAL_LEVELS;
        let found = with_stack(levels, || {
            let allocator = Allocator::default();
            let parsed = tree(&allocator, text, *flavour, scan.traits, unit)?;
            let scoping = SemanticBuilder::new().build(&parsed.program).semantic.into_scoping();
            let facts = collect::collect(&parsed.program, &scoping);
            let mut ledger = Ledger::new(parsed.program.source_text);
            report::report(&mut Eval::new(&facts, &scoping), &mut ledger);
            Ok(ledger.settle(|at| parsed.text.offset(at)))
        });
        match found {
            Ok(entries) => Ok(entries.into_needs(&Lines::new(&part.source, LineEnds::Script), range.start)),
            Err(fault) => Err(SourceError::new(fault.shifted(range.start), &part.source, &part.name)),
        }
    }

    fn first_import(&self) -> Option<Place> {
        let main = self.main();
        let range = main.origin.as_ref()?.range.clone();
        let outline = outline_of(&main.source[range.clone()], Language::Auto, Role::Program)?;
        let first = outline.requests.iter().map(|request| request.offset).min()?;
        let (line, column) = Lines::new(&main.source, LineEnds::Script).position(range.start + first);
        Some(Place { line, column })
    }
}

impl Needs {
    fn add_module(&mut self, other: Needs, module: &str, place: Place) {
        for need in other.needs {
            match self.needs.iter_mut().find(|known| known.power == need.power) {
                Some(known) => {
                    known.exact &= need.exact;
                    if !known.places.contains(&place) {
                        known.places.push(place);
                        known.places.sort_unstable();
                    }
                }
                None => self.needs.push(Need { places: vec![place], ..need }),
            }
        }
        let unknown = other.unknown.into_iter();
        self.unknown.extend(unknown.map(|unknown| {
            let why = format!("in {}:{}: {}", module, unknown.place.line, unknown.why);
            Unknown { place, why, ..unknown }
        }));
        for (places, found) in [(&mut self.clock, &other.clock), (&mut self.random, &other.random)] {
            if !found.is_empty() && !places.contains(&place) {
                places.push(place);
                places.sort_unstable();
            }
        }
    }
}
