//! What is a path, and what is not.

use super::desk::Desk;
use super::{Case, Make};
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "paths that lead out are denied", needs: &[], run: paths_that_lead_out_are_denied },
    Case { name: "what is no path is invalid", needs: &[], run: what_is_no_path_is_invalid },
    Case { name: "odd spellings are plain names", needs: &[], run: odd_spellings_are_plain_names },
    Case { name: "names are compared byte by byte", needs: &[], run: names_are_compared_byte_by_byte },
    Case { name: "paths have one form", needs: &[], run: paths_have_one_form },
];

fn every_op(path: &str) -> Vec<Value> {
    let with = |op: &str| json!({ "op": op, "path": path });
    let mut ops: Vec<Value> =
        ["read", "read_lines", "write", "list", "stat", "remove", "make_folder", "tree", "find"].map(with).into();
    ops.push(json!({ "op": "edit", "path": path, "edits": [{ "old": "a", "new": "b" }] }));
    ops.push(json!({ "op": "rename", "path": path, "to": "x" }));
    ops.push(json!({ "op": "rename", "path": "a.txt", "to": path }));
    ops.push(json!({ "op": "copy", "path": path, "to": "x" }));
    ops.push(json!({ "op": "copy", "path": "a.txt", "to": path }));
    ops.push(json!({ "op": "link", "path": path, "target": "a.txt" }));
    ops.push(json!({ "op": "set", "path": path, "mode": 0 }));
    ops.push(json!({ "op": "glob", "path": path, "pattern": "*" }));
    ops.push(json!({ "op": "grep", "path": path, "pattern": "x" }));
    ops.push(json!({ "op": "diff", "path": path, "to": "a.txt" }));
    ops.push(json!({ "op": "diff", "path": "a.txt", "to": path }));
    ops
}

fn paths_that_lead_out_are_denied(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a.txt", "a");
    for path in ["..", "../x", "a/../../x", "./.././x", "/etc/passwd", "/", "/a.txt", "//a.txt"] {
        for op in every_op(path) {
            let (name, code, message) = desk.refused(op.clone());
            assert_eq!((&*name, &*code), ("DeniedError", "files.denied"), "{op}: {message}");
        }
    }
    let (_, _, message) = desk.refused(json!({ "op": "read", "path": "/etc/passwd" }));
    assert!(message.contains("write `etc/passwd`"), "{message}");
    assert_eq!(desk.all(), ["a.txt"]);
}

fn what_is_no_path_is_invalid(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a.txt", "a");
    let (name, levels, whole) = ("n".repeat(256), "d/".repeat(101), format!("{}/", "x".repeat(99)).repeat(42));
    for path in ["a\0b", "a\nb", "a\\b", "..\\x", "C:\\x", "a\u{7f}", &name, &levels, &whole] {
        for op in every_op(path) {
            let (name, code, message) = desk.refused(op.clone());
            assert_eq!((&*name, &*code), ("TypeError", "files.invalid"), "{op}: {message}");
        }
    }
    for op in every_op("")
        .into_iter()
        .filter(|op| !["list", "stat", "tree", "find", "glob", "grep"].contains(&op["op"].as_str().unwrap()))
    {
        let (name, code, message) = desk.refused(op.clone());
        assert_eq!((&*name, &*code), ("TypeError", "files.invalid"), "{op}: {message}");
    }
    assert_eq!(desk.all(), ["a.txt"]);
}

fn odd_spellings_are_plain_names(make: Make<'_>) {
    let desk = Desk::new(make);
    for path in
        ["%2e%2e/x", "%252e%252e%252fx", "\u{2024}\u{2024}/x", "$HOME/x", "~/x", "...", "~~", "\u{ff0e}\u{ff0e}/x"]
    {
        assert_eq!(desk.text(path), "! files.not_found", "{path}");
        assert_eq!(desk.write(path, "mine"), 4, "{path}");
        assert_eq!(desk.text(path), "mine", "{path}");
    }
    for path in ["__proto__", "constructor", "[a]*?.txt", "a b", "-rf", "con", "x ", " x", "a\u{202e}b"] {
        assert_eq!((desk.write(path, path), desk.text(path)), (json!(path.len()), json!(path)));
    }
}

fn names_are_compared_byte_by_byte(make: Make<'_>) {
    let desk = Desk::new(make);
    for (path, text) in [("caf\u{e9}", "nfc"), ("cafe\u{301}", "nfd"), ("A", "upper"), ("a", "lower")] {
        desk.write(path, text);
    }
    assert_eq!(desk.text("caf\u{e9}"), "nfc");
    assert_eq!(desk.text("cafe\u{301}"), "nfd");
    assert_eq!((desk.text("A"), desk.text("a")), (json!("upper"), json!("lower")));
    assert_eq!(desk.all(), ["A", "a", "cafe\u{301}", "caf\u{e9}"]);
}

fn paths_have_one_form(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("./d//e/./f", "x");
    for path in ["d/e/f", "d/e/../e/f", "./d/e/f/", "d/../d/e/f"] {
        assert_eq!(desk.text(path), "x", "{path}");
    }
    assert_eq!(desk.all(), ["d", "d/e", "d/e/f"]);
    let deep = vec!["d"; 100].join("/");
    assert_eq!(desk.write(&deep, "deep"), 4);
    assert_eq!(desk.text(&deep), "deep");
}
