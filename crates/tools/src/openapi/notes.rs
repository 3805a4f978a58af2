/// How many notes are kept.
const NOTES_MAX: usize = 1_000;

/// What the reader of a description has to be told.
#[derive(Debug, Default)]
pub(super) struct Notes {
    kept: Vec<String>,
    more: usize,
}

impl Notes {
    pub(super) fn add(&mut self, note: String) {
        if self.kept.len() < NOTES_MAX {
            self.kept.push(note);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.kept.push(format!("and {} more of this kind", self.more));
        }
        self.kept
    }
}
