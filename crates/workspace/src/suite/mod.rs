//! What every tree has to keep to, whoever keeps it: tests with the tree as a parameter.
//!
//! A test of whoever keeps one calls [`suite`] with a function that makes an empty one. Whatever does not hold is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod archives;
mod at_once;
mod attack;
mod desk;
mod edits;
mod files;
mod links;
mod moves;
mod past;
mod paths;
mod room;
mod scopes;
mod search;
mod trees;

use isolith_core::files::{FileTree, Room};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

pub use attack::{Attack, attacks};
pub use desk::Desk;

/// Makes an empty tree.
pub type Make<'a> = &'a dyn Fn(Room) -> Arc<dyn FileTree>;

/// What some trees can and others cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Has links.
    Links,
    /// Remembers what was before.
    History,
    /// Keeps to the room it is given, beyond the size of one file.
    Room,
    /// Shows one moment at a time, and takes back a change that was not finished.
    Whole,
}

impl Ability {
    /// All of them.
    pub const ALL: [Ability; 4] = [Ability::Links, Ability::History, Ability::Room, Ability::Whole];
}

/// One fact about trees.
pub struct Case {
    /// In words.
    pub name: &'static str,
    /// What a tree has to be able to.
    pub needs: &'static [Ability],
    /// Panics when it does not hold.
    pub run: fn(Make<'_>),
}

/// Every case.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    [
        paths::CASES,
        files::CASES,
        links::CASES,
        edits::CASES,
        moves::CASES,
        search::CASES,
        room::CASES,
        scopes::CASES,
        past::CASES,
        trees::CASES,
        at_once::CASES,
        archives::CASES,
    ]
    .into_iter()
    .flatten()
}

/// Runs every case that a tree with these abilities can run, and every attack. Panics at the end with the names of those that failed.
pub fn suite(make: Make<'_>, abilities: &[Ability]) {
    let able = |needs: &[Ability]| needs.iter().all(|need| abilities.contains(need));
    let holds = |run: &dyn Fn()| std::panic::catch_unwind(AssertUnwindSafe(run)).is_ok();
    let mut failed = Vec::new();
    for case in cases().filter(|case| able(case.needs)) {
        if !holds(&|| (case.run)(make)) {
            failed.push(case.name.to_owned());
        }
    }
    for attack in attacks().iter().filter(|attack| able(attack.needs())) {
        if !holds(&|| attack.withstand(make)) {
            failed.push(attack.id().to_owned());
        }
    }
    assert!(failed.is_empty(), "these do not hold: {failed:#?}");
}
