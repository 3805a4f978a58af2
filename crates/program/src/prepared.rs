use crate::compile::{Mapping, compile};
use crate::frames::{self, MappedStack};
use crate::language::Flavour;
use crate::positions::Positions;
use crate::scan::Scan;
use isolith_core::Program;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A program that an engine can run, with the way back to what its author wrote.
pub struct Prepared {
    program: Program,
    source: Arc<str>,
    origin: Origin,
    positions: OnceLock<Option<Positions>>,
}

/// How the program was made, to make it once more with positions.
pub(crate) struct Origin {
    /// The part of the source that is the program.
    pub(crate) range: Range<usize>,
    pub(crate) flavour: Flavour,
    pub(crate) scan: Scan,
}

impl Prepared {
    pub(crate) fn new(program: Program, source: Arc<str>, origin: Origin) -> Self {
        Prepared { program, source, origin, positions: OnceLock::new() }
    }

    /// What the engine runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What the author wrote.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place in the author's source of a place in the printed code; nothing for a place outside the code.
    ///
    /// Lines and columns count from 1. Lines of code end at LF, CR and CR LF and its columns are bytes, as QuickJS
    /// counts; columns of the source are characters. The first call prints the program once more, so a run without
    /// errors does not pay for it.
    pub fn locate(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let positions = self.positions.get_or_init(|| self.make_positions()).as_ref()?;
        positions.locate(&self.program.code, &self.source, line, column)
    }

    /// Rewrites the frames of a stack, as QuickJS writes it, to the author's source.
    ///
    /// Frames of the prelude and of the function around the program are dropped, frames of native functions stay. The
    /// text may be anything, because the program can write it; what comes out is bounded.
    pub fn map_stack(&self, stack: &str) -> MappedStack {
        frames::map(stack, &self.program.name, |line, column| self.locate(line, column))
    }

    fn make_positions(&self) -> Option<Positions> {
        let Origin { range, flavour, scan } = &self.origin;
        let printed = compile(&self.source[range.clone()], *flavour, scan, Mapping::On).ok()?;
        Some(Positions::new(printed.map, range.start, &self.program.code, &self.source))
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("program", &self.program).finish_non_exhaustive()
    }
}
