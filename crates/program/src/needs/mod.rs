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

use crate::compile::tree;
use crate::error::SourceError;
use crate::language::Language;
use crate::lines::{LineEnds, Lines};
use crate::prepare::prepare;
use crate::prepared::{Origin, Prepared};
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
    /// Says what the program will reach for; see [`needs()`].
    pub fn needs(&self) -> Result<Needs, SourceError> {
        let Origin { range, flavour, scan } = self.origin();
        let text = &self.source()[range.clone()];
        let levels = scan.deepest.max(scan.typed_deepest) + EVAL_LEVELS;
        let found = with_stack(levels, || {
            let allocator = Allocator::default();
            let parsed = tree(&allocator, text, *flavour, scan.traits)?;
            let scoping = SemanticBuilder::new().build(&parsed.program).semantic.into_scoping();
            let facts = collect::collect(&parsed.program, &scoping);
            let mut ledger = Ledger::new(parsed.program.source_text);
            report::report(&mut Eval::new(&facts, &scoping), &mut ledger);
            Ok(ledger.settle(|at| parsed.text.offset(at)))
        });
        match found {
            Ok(entries) => Ok(entries.into_needs(&Lines::new(self.source(), LineEnds::Script), range.start)),
            Err(fault) => Err(SourceError::new(fault.shifted(range.start), self.source(), &self.program().name)),
        }
    }
}
