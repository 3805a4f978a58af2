//! Edits and differences.

use super::desk::Desk;
use super::{Ability, Case, Make};
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "edits are made to the letter", needs: &[], run: edits_are_made_to_the_letter },
    Case { name: "edits are made all or none", needs: &[], run: edits_are_made_all_or_none },
    Case { name: "edits cannot blow a text up", needs: &[Ability::Room], run: edits_cannot_blow_a_text_up },
    Case { name: "differences are told", needs: &[], run: differences_are_told },
];

fn edit(desk: &Desk, edits: Value) -> Value {
    desk.ask(json!({ "op": "edit", "path": "t", "edits": edits }))
}

fn edits_are_made_to_the_letter(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("t", "abc abc");
    assert_eq!(edit(&desk, json!([{ "old": "c a", "new": "$&$1$`\\1" }])), json!({ "size": 12, "replaced": 1 }));
    assert_eq!(desk.text("t"), "ab$&$1$`\\1bc");
    desk.write("t", "a.a.a");
    let all = json!([{ "old": ".", "new": "-", "replace_all": true }, { "old": "a-a-a", "new": "done" }]);
    assert_eq!(edit(&desk, all), json!({ "size": 4, "replaced": 3 }));
    assert_eq!(desk.text("t"), "done");
    desk.write("t", "\u{feff}one\r\ntwo\r\n");
    edit(&desk, json!([{ "old": "one\ntwo", "new": "1\n2\n3" }]));
    assert_eq!(desk.text("t"), "\u{feff}1\r\n2\r\n3\r\n", "its line ends are kept, and what stands before the first");
    assert_eq!(edit(&desk, json!([{ "old": "3\r\n", "new": "" }]))["size"], 3 + 6);
}

fn edits_are_made_all_or_none(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("t", "one\ntwo\ntwo\n");
    let refused = |edits: Value| desk.refused(json!({ "op": "edit", "path": "t", "edits": edits }));
    let (_, code, message) = refused(json!([{ "old": "one", "new": "1" }, { "old": "two", "new": "2" }]));
    assert_eq!(code, "files.ambiguous");
    assert!(message.contains("edit 2") && message.contains("2 times (lines 2, 3)"), "{message}");
    let (_, code, message) = refused(json!([{ "old": " one ", "new": "1" }]));
    assert_eq!(code, "files.no_match");
    assert!(message.contains("the nearest is line 1: `one`"), "{message}");
    let (name, code, _) = refused(json!([{ "old": "", "new": "1" }]));
    assert_eq!((&*name, &*code), ("TypeError", "files.invalid"));
    assert_eq!(refused(json!([])).1, "files.invalid");
    assert_eq!(refused(json!(vec![json!({ "old": "one", "new": "one" }); 1001])).1, "files.limit");
    assert_eq!(desk.text("t"), "one\ntwo\ntwo\n");
    assert_eq!(
        desk.ask(json!({ "op": "edit", "path": "none", "edits": [{ "old": "a", "new": "b" }] })),
        "! files.not_found"
    );
    desk.ask_with(json!({ "op": "write", "path": "t" }), &[255, b'a']);
    assert_eq!(edit(&desk, json!([{ "old": "a", "new": "b" }])), "! files.not_text");
}

fn edits_cannot_blow_a_text_up(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("t", &"a".repeat(1 << 20));
    let (new, text) = ("b".repeat(1 << 20), desk.text("t"));
    assert_eq!(edit(&desk, json!([{ "old": "a", "new": new, "replace_all": true }])), "! files.too_large");
    assert_eq!(desk.text("t"), text);
}

fn differences_are_told(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    desk.write("b", "1\n2\n3\n4\nfive\n6\n7\n8\n9");
    let diff = |path: &str, to: &str| desk.ask(json!({ "op": "diff", "path": path, "to": to }))["diff"].clone();
    let expected =
        "--- a/a\n+++ b/b\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n\\ No newline at end of file\n";
    assert_eq!(diff("a", "b"), expected);
    assert_eq!(diff("a", "a"), "");
    assert_eq!(desk.ask(json!({ "op": "diff", "path": "a", "to": "none" })), "! files.not_found");
    // Nothing in common, and much of it: some way is found in time.
    let lines = |from: usize| (0..100_000).map(|n| format!("{}\n", from + n * 7919 % 100_003)).collect::<String>();
    desk.write("a", &lines(0));
    desk.write("b", &lines(50_000));
    let said = desk.ask(json!({ "op": "diff", "path": "a", "to": "b" }));
    assert!(said == "! files.limit" || said["diff"].is_string(), "{said:.100}");
    desk.write("b", &"x".repeat(5 << 20));
    assert_eq!(desk.ask(json!({ "op": "diff", "path": "a", "to": "b" })), "! files.limit");
}
