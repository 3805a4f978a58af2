//! Parts of a tree that are open, and parts that are not.

use super::desk::Desk;
use super::{Ability, Case, Make};
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "nothing outside of the root is touched", needs: &[], run: nothing_outside_of_the_root_is_touched },
    Case { name: "closed places stay closed", needs: &[], run: closed_places_stay_closed },
    Case { name: "links lead to no closed place", needs: &[Ability::Links], run: links_lead_to_no_closed_place },
    Case { name: "the root is no link", needs: &[Ability::Links], run: the_root_is_no_link },
];

fn tree(make: Make<'_>) -> Desk {
    let desk = Desk::new(make);
    for path in ["docs/a", "docs/sub/b", "docs/shut/secret", "private"] {
        desk.write(path, path);
    }
    desk
}

fn nothing_outside_of_the_root_is_touched(make: Make<'_>) {
    let whole = tree(make);
    let desk = whole.only("docs", &[]);
    assert_eq!(desk.text("docs/a"), "docs/a");
    for path in ["private", ".", "docsx", "docs/../private"] {
        assert_eq!(desk.text(path), "! files.denied", "{path}");
        assert_eq!(desk.write(path, "x"), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "list", "path": path })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "grep", "path": path, "pattern": "x" })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "rename", "path": "docs/a", "to": path })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "copy", "path": path, "to": "docs/x" })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "diff", "path": "docs/a", "to": path })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "read", "path": path, "version": 1 })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "history", "path": path })), "! files.denied", "{path}");
    }
    assert_eq!(desk.ask(json!({ "op": "undo" })), "! files.denied");
    assert_eq!(desk.ask(json!({ "op": "remove", "path": "docs", "recursive": true })), "! files.denied");
    assert_eq!(desk.ask(json!({ "op": "rename", "path": "docs", "to": "docs/x" })), "! files.denied");
    let new = whole.only("made/by/us", &[]);
    assert_eq!(new.ask(json!({ "op": "list", "path": "made/by/us" })), "! files.not_found");
    assert_eq!(whole.ask(json!({ "op": "stat", "path": "made" })), Value::Null, "looking makes nothing");
    assert_eq!(new.write("made/by/us/a", "x"), 1);
    let one = whole.only("docs/a", &[]);
    assert_eq!((one.text("docs/a"), one.text("docs/sub/b")), (json!("docs/a"), json!("! files.denied")));
    assert_eq!(one.write("docs/a", "new"), 3);
    let absolute = whole.only("/docs", &[]);
    assert_eq!(absolute.text("docs/a"), "! files.denied");
}

fn closed_places_stay_closed(make: Make<'_>) {
    let whole = tree(make);
    let desk = whole.only("docs", &["docs/shut", "docs/sub/b", "elsewhere"]);
    for path in ["docs/shut", "docs/shut/secret", "docs/shut/new", "docs/sub/b", "docs/sub/../shut/secret"] {
        assert_eq!(desk.text(path), "! files.denied", "{path}");
        assert_eq!(desk.write(path, "x"), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "stat", "path": path })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "remove", "path": path, "recursive": true })), "! files.denied", "{path}");
        assert_eq!(desk.ask(json!({ "op": "rename", "path": "docs/a", "to": path })), "! files.denied", "{path}");
    }
    for op in [
        json!({ "op": "rename", "path": "docs/sub", "to": "docs/free" }),
        json!({ "op": "copy", "path": "docs/sub", "to": "docs/free" }),
        json!({ "op": "remove", "path": "docs/sub", "recursive": true }),
    ] {
        assert_eq!(desk.ask(op.clone()), "! files.denied", "{op}");
    }
    let glob = desk.ask(json!({ "op": "glob", "path": "docs", "pattern": "**" }));
    assert_eq!(glob["paths"], json!(["docs/a", "docs/sub"]));
    assert_eq!(desk.ask(json!({ "op": "grep", "path": "docs", "pattern": "secret|b" }))["matches"], json!([]));
    assert_eq!(desk.ask(json!({ "op": "find", "path": "docs" }))["entries"].as_array().unwrap().len(), 2);
    assert_eq!(desk.ask(json!({ "op": "tree", "path": "docs" }))["text"], "docs/\n  a\n  sub/\n");
    assert_eq!(desk.ask(json!({ "op": "rename", "path": "docs/a", "to": "docs/sub/a" })), Value::Null);
    assert_eq!(whole.text("docs/shut/secret"), "docs/shut/secret");
    assert_eq!(whole.text("docs/sub/b"), "docs/sub/b");
}

fn links_lead_to_no_closed_place(make: Make<'_>) {
    let whole = tree(make);
    whole.link("docs/alias", "shut");
    whole.link("docs/far", "../private");
    whole.link("docs/round", "../docs/a");
    let desk = whole.only("docs", &["docs/shut"]);
    for path in ["docs/alias", "docs/alias/secret", "docs/far", "docs/round"] {
        assert_eq!(desk.text(path), "! files.denied", "{path}");
    }
    assert_eq!(whole.text("docs/round"), "docs/a");
    assert_eq!(desk.write("docs/alias/new", "x"), "! files.denied");
    assert_eq!(desk.link("docs/mine", "shut/secret"), "! files.denied");
    assert_eq!(desk.link("docs/mine", "../private"), "! files.denied");
    assert_eq!(desk.ask(json!({ "op": "grep", "path": "docs", "pattern": "private|secret" }))["matches"], json!([]));
}

fn the_root_is_no_link(make: Make<'_>) {
    let whole = tree(make);
    whole.link("granted", "docs");
    whole.link("a_file", "private");
    for (root, path) in [("granted", "granted/a"), ("a_file", "a_file"), ("granted/sub", "granted/sub/b")] {
        let desk = whole.only(root, &[]);
        let said = desk.text(path);
        assert!(said == "! files.denied" || said == "! files.not_found", "{path}: {said}");
        assert_eq!(desk.write(path, "x"), "! files.denied", "{path}");
    }
    assert_eq!(whole.text("docs/a"), "docs/a");
}
