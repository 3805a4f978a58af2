use crate::compile::{Mapping, Role, Unit, compile};
use crate::imports::ModuleSource;
use crate::imports::known::{Imports, Known};
use crate::imports::path::engine_name;
use crate::language::Flavour;
use crate::positions::Positions;
use crate::scan::Scan;
use isolith_core::Module;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// One file of a program that can be run, with the way back to what its author wrote.
pub(crate) struct Part {
    /// What its author calls it.
    pub(crate) name: Arc<str>,
    /// What the engine calls it.
    pub(crate) engine_name: Arc<str>,
    pub(crate) source: Arc<str>,
    pub(crate) code: Arc<str>,
    /// Nothing for data, which has no code of its author's.
    pub(crate) origin: Option<Origin>,
    positions: OnceLock<Option<Positions>>,
}

/// How a part was made, to make it once more with positions.
pub(crate) struct Origin {
    /// The part of the source that is the program.
    pub(crate) range: Range<usize>,
    pub(crate) flavour: Flavour,
    pub(crate) scan: Scan,
}

impl Part {
    pub(crate) fn program(name: &str, source: &str, code: Arc<str>, origin: Origin) -> Part {
        Part {
            name: name.into(),
            engine_name: name.into(),
            source: source.into(),
            code,
            origin: Some(origin),
            positions: OnceLock::new(),
        }
    }

    pub(crate) fn module(ModuleSource { name, source }: &ModuleSource, code: String, origin: Option<Origin>) -> Part {
        Part {
            name: name.as_str().into(),
            engine_name: engine_name(name).into(),
            source: source.as_str().into(),
            code: code.into(),
            origin,
            positions: OnceLock::new(),
        }
    }

    /// As an engine gets it.
    pub(crate) fn to_module(&self) -> Module {
        Module { name: Arc::clone(&self.engine_name), code: Arc::clone(&self.code) }
    }

    /// As its author gave it.
    pub(crate) fn to_source(&self) -> ModuleSource {
        ModuleSource { name: self.name.to_string(), source: self.source.to_string() }
    }

    /// The place in the author's source of a place in the printed code.
    pub(crate) fn locate(&self, role: Role, known: &Known, line: u32, column: u32) -> Option<(u32, u32)> {
        let positions = self.positions.get_or_init(|| self.make_positions(role, known)).as_ref()?;
        positions.locate(&self.code, &self.source, line, column)
    }

    fn make_positions(&self, role: Role, known: &Known) -> Option<Positions> {
        let Origin { range, flavour, scan } = self.origin.as_ref()?;
        let unit = Unit { role, imports: Imports { known, importer: &self.name } };
        let printed = compile(&self.source[range.clone()], *flavour, scan, Mapping::On, unit).ok()?;
        Some(Positions::new(printed.map, range.start, &self.code, &self.source))
    }
}
