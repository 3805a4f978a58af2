//! What every tree keeps to, kept by the files of a session.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

use isolith_core::files::{FileTree, Room};
use isolith_core::{SessionSettings, SessionStore as _};
use isolith_store::DataFolder;
use isolith_workspace::suite::{Ability, suite};
use std::sync::Arc;

#[test]
fn a_session_keeps_to_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = DataFolder::open(folder.path()).unwrap().sessions().unwrap();
    let make = |room: Room| -> Arc<dyn FileTree> {
        let made = sessions.create(None, SessionSettings::default()).unwrap();
        sessions.open(&made.session, room).unwrap().files
    };
    suite(&make, &Ability::ALL);
}
