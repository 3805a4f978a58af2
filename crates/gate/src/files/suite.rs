//! What every tree has to keep to, kept by folders of the host as far as they can.

use super::HostFolder;
use isolith_core::FilesError;
use isolith_core::files::{Changing, FileTree, Looking, Room, Used};
use isolith_workspace::suite::suite;
use std::sync::Arc;

/// A folder that is there as long as its tree.
struct Temporary {
    tree: HostFolder,
    _folder: tempfile::TempDir,
}

impl FileTree for Temporary {
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError> {
        self.tree.view(look)
    }

    fn change(&self, what: &str, change: &mut Changing<'_>) -> Result<(), FilesError> {
        self.tree.change(what, change)
    }

    fn used(&self) -> Result<(Used, Room), FilesError> {
        self.tree.used()
    }
}

#[test]
fn folders_of_the_host_keep_to_what_they_can() {
    let make = |_: Room| {
        let folder = tempfile::tempdir().unwrap();
        Arc::new(Temporary { tree: HostFolder::new(folder.path().to_owned()), _folder: folder }) as Arc<dyn FileTree>
    };
    suite(&make, &[]);
}
