//! What was before.

use super::desk::Desk;
use super::{Ability, Case, Make};
use serde_json::{Value, json};

const HISTORY: &[Ability] = &[Ability::History];

pub(super) const CASES: &[Case] = &[
    Case { name: "what was before can be read", needs: HISTORY, run: what_was_before_can_be_read },
    Case { name: "changes can be taken back", needs: HISTORY, run: changes_can_be_taken_back },
    Case { name: "taking back what was taken back", needs: HISTORY, run: taking_back_what_was_taken_back },
];

fn changes(desk: &Desk, path: &str) -> Vec<(u64, String, String, Value)> {
    let told = desk.ask(json!({ "op": "history", "path": path }))["changes"].clone();
    let row = |change: &Value| {
        let text = |key: &str| change[key].as_str().unwrap().to_owned();
        assert!(change["at"].is_u64());
        (change["version"].as_u64().unwrap(), text("what"), text("path"), change["kind"].clone())
    };
    told.as_array().unwrap().iter().map(row).collect()
}

fn what_was_before_can_be_read(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "one");
    desk.write("a", "two");
    desk.write("b", "b");
    desk.ask(json!({ "op": "remove", "path": "a" }));
    let told = changes(&desk, "a");
    let whats: Vec<(&str, &Value)> = told.iter().map(|(_, what, _, kind)| (&**what, kind)).collect();
    let file = json!("file");
    assert_eq!(whats, [("remove", &Value::Null), ("write", &file), ("write", &file)]);
    let (last, second, first) = (told[0].0, told[1].0, told[2].0);
    assert!(first < second && second < last, "{told:?}");
    let at = |version: u64| desk.ask(json!({ "op": "read", "path": "a", "version": version }));
    assert_eq!((at(first), at(second), at(last)), (json!("one"), json!("two"), json!("! files.not_found")));
    assert_eq!(desk.ask(json!({ "op": "read", "path": "a", "version": first, "offset": 1, "length": 1 })), "n");
    assert_eq!(changes(&desk, ".").len(), 4);
    assert_eq!(desk.ask(json!({ "op": "history", "limit": 2 }))["changes"].as_array().unwrap().len(), 2);
    desk.write("a", "three\n");
    let diff = desk.ask(json!({ "op": "diff", "path": "a", "version": second }));
    assert_eq!(diff["diff"], "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-two\n\\ No newline at end of file\n+three\n");
    let absent = desk.ask(json!({ "op": "read", "path": "a", "version": 1_000_000 }));
    assert!(["! files.invalid", "! files.not_found"].iter().any(|code| absent == *code), "{absent}");
}

fn changes_can_be_taken_back(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "one");
    desk.write("d/e/f", "f");
    desk.ask(json!({ "op": "edit", "path": "a", "edits": [{ "old": "one", "new": "two" }] }));
    let undone = desk.ask(json!({ "op": "undo" }));
    assert_eq!(undone["paths"], json!(["a"]));
    assert_eq!(desk.text("a"), "one");
    desk.ask(json!({ "op": "rename", "path": "d", "to": "moved" }));
    let version = changes(&desk, ".")[0].0;
    desk.ask(json!({ "op": "remove", "path": "moved", "recursive": true }));
    desk.write("new", "x");
    let undone = desk.ask(json!({ "op": "undo", "version": version }));
    assert_eq!(undone["version"], version);
    assert_eq!(desk.all(), ["a", "d", "d/e", "d/e/f"]);
    assert_eq!(desk.text("d/e/f"), "f");
    assert_eq!(desk.tree.used().unwrap().0, isolith_core::files::Used { bytes: 4, files: 4 });
    let none = desk.ask(json!({ "op": "undo", "version": 1_000_000 }));
    assert!(none.as_str().is_some_and(|code| code.starts_with("! files.")), "{none}");
}

fn taking_back_what_was_taken_back(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "one");
    desk.write("a", "two");
    desk.ask(json!({ "op": "undo" }));
    assert_eq!(desk.text("a"), "one");
    desk.ask(json!({ "op": "undo" }));
    assert_eq!(desk.text("a"), "two", "taking back is a change itself");
}
