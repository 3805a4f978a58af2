//! Schemas of a description, made into schemas that stand alone.
//!
//! What a tool's schema refers to is copied into its `$defs`, once each, so that circles stay circles. A schema that reaches
//! very much is made less exact where it would grow beyond its limits: what is left out there allows anything.

mod copy;
mod ground;
mod leaf;
mod nullable;

use super::document::{Broken, Document};
use copy::Copier;
use serde_json::{Map, Value};

/// About how much memory the schemas of all tools may take, and one with its definitions.
const ALL_BYTES_MAX: usize = 128 << 20;
const SCHEMA_BYTES_MAX: usize = 512 << 10;

/// Makes schemas, and counts what they take together.
#[derive(Debug)]
pub(super) struct Schemas<'a> {
    document: Document<'a>,
    operations_left: usize,
    bytes_left: usize,
    /// What the operation that is read may take of it.
    share_left: usize,
}

/// Who sends what a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// The guest: nobody needs to send what is read-only.
    Guest,
    /// The API: nobody needs to answer with what is write-only.
    Api,
}

/// How faithful a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Exact,
    /// Where a part allows anything, `not` and `oneOf` around it would refuse what the whole means to allow. These are
    /// given up, so that a copy with gaps refuses nothing that the original takes.
    Loose,
}

/// One schema in the description.
#[derive(Clone, Debug)]
pub(super) struct Root<'a> {
    /// Where, for messages.
    pub(super) at: String,
    /// None allows anything.
    pub(super) schema: Option<&'a Value>,
    /// What is said about it elsewhere.
    pub(super) description: Option<&'a str>,
}

/// Schemas with what they refer to.
#[derive(Debug)]
pub(super) struct Built {
    /// One for each root.
    pub(super) schemas: Vec<Value>,
    /// What they refer to as `#/$defs/<name>`.
    pub(super) defs: Map<String, Value>,
    /// Whether they say all that the description says.
    pub(super) is_exact: bool,
}

impl<'a> Schemas<'a> {
    pub(super) fn of(document: Document<'a>, operations: usize) -> Self {
        Schemas { document, operations_left: operations, bytes_left: ALL_BYTES_MAX, share_left: 0 }
    }

    pub(super) fn document(&self) -> Document<'a> {
        self.document
    }

    /// Goes on to the next operation. What others did not use is there for those that follow.
    pub(super) fn begin_operation(&mut self) {
        self.share_left = self.bytes_left / self.operations_left.max(1);
        self.operations_left = self.operations_left.saturating_sub(1);
    }

    /// Copies schemas that will be in one: they share their definitions.
    pub(super) fn build(&mut self, sender: Sender, roots: &[Root<'a>]) -> Result<Built, Broken> {
        let share = match sender {
            Sender::Guest => self.share_left / 2,
            Sender::Api => self.share_left,
        };
        let bytes_max = share.min(SCHEMA_BYTES_MAX);
        let (mut built, mut bytes) = self.pass(sender, roots, Precision::Exact, bytes_max)?;
        if !built.is_exact {
            (built, bytes) = self.pass(sender, roots, Precision::Loose, bytes_max)?;
            built.is_exact = false;
        }
        self.charge(bytes)?;
        Ok(built)
    }

    /// Counts memory that a tool takes besides.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Broken> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or_else(|| Broken::new("the tools of this description are too large together"))?;
        self.share_left = self.share_left.saturating_sub(bytes);
        Ok(())
    }

    fn pass(
        &self,
        sender: Sender,
        roots: &[Root<'a>],
        precision: Precision,
        bytes_max: usize,
    ) -> Result<(Built, usize), Broken> {
        let mut copier = Copier::new(self.document, sender, precision, bytes_max);
        let schemas = roots.iter().map(|root| copier.root(root)).collect::<Result<_, _>>()?;
        let mut defs = Map::new();
        // Copying one may want others: the list grows while it is walked.
        let mut next = 0;
        while let Some((name, schema)) = copier.definition(next)? {
            defs.insert(name, schema);
            next += 1;
        }
        let severed = ground::ground(&mut defs, copier.names());
        let is_exact = !copier.has_gaps() && !severed;
        Ok((Built { schemas, defs, is_exact }, bytes_max - copier.bytes_left()))
    }
}
