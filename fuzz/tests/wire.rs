//! The corpus of messages is one: a target that understands nothing finds nothing.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

use isolith_core::wire::{Event, Request};

#[test]
fn every_message_of_the_corpus_is_understood_and_keeps_its_form() {
    let folder = "corpus/wire";
    let mut kinds = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let message = std::fs::read(&path).unwrap();
        let understood = Request::read(&message).is_ok() || Event::read(&message, "remote").is_ok();
        assert!(understood, "{}", path.display());
        isolith_fuzz::wire::check(&message);
        kinds.insert(message[0]);
    }
    assert_eq!(kinds.len(), 13, "a kind of message has no example: {kinds:?}");
}
