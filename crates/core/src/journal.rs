use crate::StoreProblem;

/// Takes the records of one run, in their order, and keeps them where they will be found again.
///
/// A record is one line of text. What it means is for whoever appends it: a run, a workflow.
pub trait Recorder: Send {
    /// Adds a record behind all others, or says why it cannot be kept.
    fn append(&mut self, record: &str) -> Result<(), StoreProblem>;

    /// Returns when every record so far is on disk.
    fn sync(&mut self) -> Result<(), StoreProblem>;

    /// Puts what `change` makes of a record in the record's place, for all that were appended so far. All of them are changed, or none.
    fn rewrite(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem>;
}
