use crate::{RunId, StoreProblem};
use serde::{Deserialize, Serialize};

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

    /// Where the next record will be, so that what is before it need not be read again; nothing where that cannot be told.
    fn mark(&self) -> Option<Mark> {
        None
    }
}

/// A place in a journal, behind one of its records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Where the record before it begins.
    pub last: u64,
    /// How many bytes are before it.
    pub bytes: u64,
    /// What stands for everything before it.
    pub sum: String,
}

/// Where the journals of runs are kept.
pub trait JournalStore: Send + Sync {
    /// Begins the journal of a run; nothing when there is one of that name.
    fn create(&self, run: &RunId) -> Result<Option<Box<dyn Recorder>>, StoreProblem>;

    /// Goes on with a journal, and tells what it holds; nothing when there is none.
    fn go_on(&self, run: &RunId) -> Result<Option<OpenJournal>, StoreProblem>;

    /// Forgets a journal.
    fn forget(&self, run: &RunId) -> Result<(), StoreProblem>;
}

/// A journal that was there.
pub struct OpenJournal {
    /// Takes the further records.
    pub to: Box<dyn Recorder>,
    /// Those so far.
    pub records: Vec<String>,
}
