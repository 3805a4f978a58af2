use crate::compile::Role;
use crate::frames::{self, File, MappedStack};
use crate::imports::ModuleSource;
use crate::imports::known::Known;
use crate::part::Part;
use isolith_core::Program;

/// A program that an engine can run, with the way back to what its author wrote.
pub struct Prepared {
    program: Program,
    main: Part,
    modules: Vec<Part>,
    known: Known,
}

impl Prepared {
    pub(crate) fn new(program: Program, main: Part, modules: Vec<Part>, known: Known) -> Self {
        Prepared { program, main, modules, known }
    }

    /// What the engine runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn main(&self) -> &Part {
        &self.main
    }

    pub(crate) fn module_parts(&self) -> &[Part] {
        &self.modules
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// What the author wrote.
    pub fn source(&self) -> &str {
        &self.main.source
    }

    /// What its authors wrote that came along.
    pub fn modules(&self) -> Vec<ModuleSource> {
        self.modules.iter().map(Part::to_source).collect()
    }

    /// The place in the author's source of a place in the printed code; nothing for a place outside the code.
    ///
    /// Lines and columns count from 1. Lines of code end at LF, CR and CR LF and its columns are bytes, as QuickJS
    /// counts; columns of the source are characters. The first call prints the program once more, so a run without
    /// errors does not pay for it.
    pub fn locate(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        self.main.locate(Role::Program, &self.known, line, column)
    }

    /// The same for a module, by its path.
    pub fn locate_in(&self, module: &str, line: u32, column: u32) -> Option<(u32, u32)> {
        let part = self.modules.iter().find(|part| &*part.name == module)?;
        part.locate(Role::Module, &self.known, line, column)
    }

    /// Rewrites the frames of a stack, as QuickJS writes it, to the sources of the program and its modules.
    ///
    /// Frames of the prelude and of the function around the program are dropped, frames of native functions stay. The
    /// text may be anything, because the program can write it; what comes out is bounded.
    pub fn map_stack(&self, stack: &str) -> MappedStack {
        let parts: Vec<&Part> = std::iter::once(&self.main).chain(&self.modules).collect();
        let files = parts.iter().map(|part| File { name: &part.engine_name, shown: &part.name });
        frames::map(stack, &files.collect::<Vec<_>>(), |file, line, column| {
            let part = parts[file];
            part.locate(if file == 0 { Role::Program } else { Role::Module }, &self.known, line, column)
        })
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("program", &self.program).finish_non_exhaustive()
    }
}
