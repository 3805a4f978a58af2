//! How much there may be.

use super::desk::Desk;
use super::{Ability, Case, Make};
use isolith_core::files::{Room, Used};
use serde_json::{Value, json};

const ROOM: &[Ability] = &[Ability::Room];

pub(super) const CASES: &[Case] = &[
    Case { name: "a tree keeps to its room", needs: ROOM, run: a_tree_keeps_to_its_room },
    Case { name: "every way to write is counted", needs: ROOM, run: every_way_to_write_is_counted },
    Case { name: "what is there is counted right", needs: ROOM, run: what_is_there_is_counted_right },
];

const SMALL: Room = Room { bytes: 100, files: 5, file_bytes: 60 };

fn a_tree_keeps_to_its_room(make: Make<'_>) {
    let desk = Desk::with(make, SMALL);
    assert_eq!(desk.write("a", &"x".repeat(61)), "! files.too_large");
    assert_eq!(desk.write("a", &"x".repeat(60)), 60);
    assert_eq!(desk.write("b", &"x".repeat(41)), "! files.quota");
    assert_eq!(desk.write("b", &"x".repeat(40)), 40);
    assert_eq!(desk.write("b", &"y".repeat(40)), 40, "what is replaced makes room");
    assert_eq!(desk.ask_with(json!({ "op": "write", "path": "b", "append": true }), b"z"), "! files.quota");
    assert_eq!(desk.write("empty", ""), 0);
    assert_eq!(desk.write("d/e", ""), 0);
    assert_eq!(desk.write("six", ""), "! files.quota");
    assert_eq!(desk.ask(json!({ "op": "make_folder", "path": "six" })), "! files.quota");
    assert_eq!(desk.all(), ["a", "b", "d", "d/e", "empty"]);
    assert_eq!(desk.ask(json!({ "op": "remove", "path": "d", "recursive": true })), true);
    assert_eq!(desk.write("deep/er/x", ""), "! files.quota", "folders count too, and none is left behind");
    assert_eq!(desk.write("d", ""), 0);
    let (name, code, message) = desk.refused(json!({ "op": "write", "path": "more", "append": false }));
    assert_eq!((&*name, &*code), ("RangeError", "files.quota"), "{message}");
}

fn every_way_to_write_is_counted(make: Make<'_>) {
    let desk = Desk::with(make, SMALL);
    desk.write("a", &"x".repeat(50));
    desk.write("b", &"x".repeat(50));
    let grow = json!({ "op": "edit", "path": "a", "edits": [{ "old": "x".repeat(50), "new": "y".repeat(51) }] });
    assert_eq!(desk.ask(grow), "! files.quota");
    assert_eq!(desk.ask(json!({ "op": "copy", "path": "a", "to": "c" })), "! files.quota");
    assert_eq!(desk.ask(json!({ "op": "copy", "path": "a", "to": "b" })), Value::Null, "where as much goes as comes");
    desk.ask(json!({ "op": "remove", "path": "b" }));
    assert_eq!(desk.ask(json!({ "op": "copy", "path": "a", "to": "d/c" })), Value::Null);
    assert_eq!(desk.ask(json!({ "op": "copy", "path": "d", "to": "e" })), "! files.quota");
    assert_eq!(desk.ask(json!({ "op": "rename", "path": "d", "to": "f" })), Value::Null, "moving takes no room");
    assert_eq!(desk.all(), ["a", "f", "f/c"]);
}

fn what_is_there_is_counted_right(make: Make<'_>) {
    let desk = Desk::new(make);
    let used = || desk.tree.used().unwrap().0;
    assert_eq!(used(), Used::default());
    desk.write("a/b", "12345");
    desk.write("a/c", "123");
    assert_eq!(used(), Used { bytes: 8, files: 3 });
    desk.write("a/b", "1");
    desk.ask_with(json!({ "op": "write", "path": "a/c", "append": true }), b"45");
    assert_eq!(used(), Used { bytes: 6, files: 3 });
    desk.ask(json!({ "op": "copy", "path": "a", "to": "d" }));
    assert_eq!(used(), Used { bytes: 12, files: 6 });
    desk.ask(json!({ "op": "rename", "path": "d/b", "to": "a/c" }));
    assert_eq!(used(), Used { bytes: 7, files: 5 });
    desk.write("a", "not");
    desk.ask(json!({ "op": "remove", "path": "a", "recursive": true }));
    desk.ask(json!({ "op": "remove", "path": "d", "recursive": true }));
    assert_eq!(used(), Used::default());
}
