//! What every tree keeps to, kept by the one in memory.

use isolith_core::files::{FileTree, Room};
use isolith_workspace::Memory;
use isolith_workspace::suite::{Ability, attacks, cases, suite};
use std::sync::Arc;

fn make(room: Room) -> Arc<dyn FileTree> {
    Arc::new(Memory::new(room))
}

#[test]
fn memory_keeps_to_all_of_it() {
    suite(&make, &Ability::ALL);
}

#[test]
fn there_is_something_to_keep_to() {
    assert!(cases().count() >= 40, "{}", cases().count());
    assert!(attacks().len() >= 35, "{}", attacks().len());
}
