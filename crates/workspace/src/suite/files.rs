//! Reading, writing, listing and removing.

use super::desk::{Desk, path};
use super::{Case, Make};
use crate::FilesAnswer;
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "what is written is read", needs: &[], run: what_is_written_is_read },
    Case { name: "what cannot be done has a code", needs: &[], run: what_cannot_be_done_has_a_code },
    Case { name: "large files are read in pieces", needs: &[], run: large_files_are_read_in_pieces },
    Case { name: "lines are given whole", needs: &[], run: lines_are_given_whole },
    Case { name: "lists are sorted and paged", needs: &[], run: lists_are_sorted_and_paged },
    Case { name: "modes and dates are kept", needs: &[], run: modes_and_dates_are_kept },
];

fn what_is_written_is_read(make: Make<'_>) {
    let desk = Desk::new(make);
    assert_eq!(desk.write("new/deep/b.txt", "one"), 3);
    let append = json!({ "op": "write", "path": "new/deep/b.txt", "append": true });
    assert_eq!(desk.ask_with(append, b" two"), 7);
    assert_eq!(desk.ask_with(json!({ "op": "write", "path": "new/c", "append": true }), b"first"), 5);
    assert_eq!(desk.text("new/deep/b.txt"), "one two");
    assert_eq!((desk.write("new/deep/b.txt", ""), desk.text("new/deep/b.txt")), (json!(0), json!("")));
    desk.write("a.txt", "hello");
    for (offset, length, expected) in [
        (1, None, "ello"),
        (1, Some(2), "el"),
        (4, Some(9), "o"),
        (5, None, ""),
        (u64::MAX, Some(1), ""),
        (0, Some(0), ""),
    ] {
        let part = desk.ask(json!({ "op": "read", "path": "a.txt", "offset": offset, "length": length }));
        assert_eq!(part, expected, "{offset} {length:?}");
    }
    let huge = desk.ask(json!({ "op": "read", "path": "a.txt", "offset": 0, "length": 9_007_199_254_740_992u64 }));
    assert_eq!(huge, "hello");
    let Ok(FilesAnswer::Bytes(bytes)) = ({
        desk.ask_with(json!({ "op": "write", "path": "bytes" }), &[0, 255, 254]);
        desk.perform(&json!({ "op": "read", "path": "bytes" }), b"")
    }) else {
        panic!("no bytes")
    };
    assert_eq!(bytes, [0, 255, 254]);
    let found = desk.ask(json!({ "op": "stat", "path": "a.txt" }));
    assert_eq!((&found["kind"], &found["size"]), (&json!("file"), &json!(5)));
    assert!(found["modified"].as_u64().is_some() && found.get("target").is_none(), "{found}");
    assert_eq!(desk.ask(json!({ "op": "stat", "path": "" }))["kind"], "folder");
    assert_eq!(desk.ask(json!({ "op": "stat", "path": "new" }))["size"], 0);
    assert_eq!(desk.ask(json!({ "op": "stat", "path": "none/x" })), Value::Null);
    assert_eq!(desk.ask(json!({ "op": "stat", "path": "a.txt/x" })), Value::Null);
    for path in ["m/n", "m/n", "m"] {
        assert_eq!(desk.ask(json!({ "op": "make_folder", "path": path })), Value::Null);
    }
    let remove = |path: &str| desk.ask(json!({ "op": "remove", "path": path }));
    assert_eq!((remove("a.txt"), remove("a.txt"), remove("a.txt/x")), (json!(true), json!(false), json!(false)));
    assert_eq!((remove("m"), remove("m/n"), remove("m")), (json!("! files.not_empty"), json!(true), json!(true)));
    assert_eq!(desk.ask(json!({ "op": "remove", "path": "new", "recursive": true })), true);
    assert_eq!(desk.all(), ["bytes"]);
}

fn what_cannot_be_done_has_a_code(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a.txt", "a");
    desk.write("sub/x", "x");
    let rows = [
        (json!({ "op": "read", "path": "none" }), "not_found"),
        (json!({ "op": "read", "path": "." }), "not_a_file"),
        (json!({ "op": "read", "path": "sub" }), "not_a_file"),
        (json!({ "op": "read", "path": "a.txt/x" }), "not_a_folder"),
        (json!({ "op": "list", "path": "none" }), "not_found"),
        (json!({ "op": "list", "path": "a.txt" }), "not_a_folder"),
        (json!({ "op": "list", "path": ".", "cursor": "zz" }), "invalid"),
        (json!({ "op": "write", "path": "." }), "not_a_file"),
        (json!({ "op": "write", "path": "sub" }), "not_a_file"),
        (json!({ "op": "write", "path": "sub", "append": true }), "not_a_file"),
        (json!({ "op": "write", "path": "a.txt/x" }), "not_a_folder"),
        (json!({ "op": "make_folder", "path": "a.txt" }), "exists"),
        (json!({ "op": "make_folder", "path": "a.txt/x" }), "not_a_folder"),
        (json!({ "op": "remove", "path": "sub" }), "not_empty"),
        (json!({ "op": "remove", "path": ".", "recursive": true }), "denied"),
        (json!({ "op": "set", "path": "none", "mode": 0 }), "not_found"),
        (json!({ "op": "set", "path": "a.txt" }), "invalid"),
        (json!({ "op": "set", "path": "a.txt", "mode": 0o4755 }), "invalid"),
        (json!({ "op": "set", "path": "a.txt", "modified": u64::MAX }), "invalid"),
        (json!({ "op": "read_lines", "path": "a.txt", "from": 0 }), "invalid"),
        (json!({ "op": "diff", "path": "a.txt" }), "invalid"),
    ];
    for (op, code) in rows {
        assert_eq!(desk.ask(op.clone()), format!("! files.{code}"), "{op}");
    }
    assert_eq!(desk.all(), ["a.txt", "sub", "sub/x"]);
}

fn large_files_are_read_in_pieces(make: Make<'_>) {
    let desk = Desk::new(make);
    let most = isolith_core::MAX_READ_BYTES as usize;
    let bytes: Vec<u8> = (0..3 * most + 7).map(|at| (at % 251) as u8).collect();
    let write = json!({ "op": "write", "path": "large" });
    desk.ask_with(write.clone(), &bytes);
    let read = |op: Value| match desk.perform(&op, b"") {
        Ok(FilesAnswer::Large(pieces)) => pieces,
        other => panic!("{other:?}"),
    };
    let mut pieces = read(json!({ "op": "read", "path": "large", "offset": 3 }));
    assert_eq!(pieces.left(), bytes.len() as u64 - 3);
    let mut whole = Vec::new();
    loop {
        let piece = pieces.next(&*desk.tree, usize::MAX).unwrap();
        assert!(piece.len() <= most);
        if piece.is_empty() {
            break;
        }
        whole.extend(piece);
    }
    assert_eq!(whole, &bytes[3..]);
    let part = desk.perform(&json!({ "op": "read", "path": "large", "length": most }), b"");
    assert!(matches!(part, Ok(FilesAnswer::Bytes(part)) if part == bytes[..most]));
    // Others may change as they like; the one that is being read may not.
    let mut pieces = read(json!({ "op": "read", "path": "large" }));
    assert_eq!(pieces.next(&*desk.tree, 10).unwrap(), &bytes[..10]);
    desk.write("other", "x");
    assert_eq!(pieces.next(&*desk.tree, 10).unwrap(), &bytes[10..20]);
    let mut changed = bytes;
    changed[0] = 1;
    desk.ask_with(write, &changed);
    assert_eq!(pieces.next(&*desk.tree, 10).unwrap_err().code(), "files.io");
    let mut pieces = read(json!({ "op": "read", "path": "large" }));
    desk.ask(json!({ "op": "remove", "path": "large" }));
    assert_eq!(pieces.next(&*desk.tree, 10).unwrap_err().code(), "files.io");
}

fn lines_are_given_whole(make: Make<'_>) {
    let desk = Desk::new(make);
    let lines = |path: &str, from: Option<u64>, lines: Option<u64>| {
        desk.ask(json!({ "op": "read_lines", "path": path, "from": from, "lines": lines }))
    };
    desk.write("t", "one\ntwo\r\n\nlast");
    assert_eq!(lines("t", None, None), json!({ "text": "one\ntwo\r\n\nlast", "from": 1, "lines": 4, "total": 4 }));
    assert_eq!(lines("t", Some(2), Some(2)), json!({ "text": "two\r\n\n", "from": 2, "lines": 2, "total": 4 }));
    assert_eq!(lines("t", Some(9), None), json!({ "text": "", "from": 9, "lines": 0, "total": 4 }));
    desk.write("e", "");
    assert_eq!(lines("e", None, None)["total"], 0);
    desk.write("m", &"x\n".repeat(5000));
    let many = lines("m", Some(10), Some(u64::MAX));
    assert_eq!((&many["lines"], &many["total"]), (&json!(2000), &json!(5000)));
    desk.write("w", &format!("{}\n", "y".repeat(100_000)).repeat(4));
    let wide = lines("w", None, None);
    assert_eq!((&wide["lines"], &wide["total"]), (&json!(2), &json!(4)), "as many whole lines as there is room for");
    desk.write("v", &"z".repeat(300_000));
    assert_eq!(lines("v", None, None), "! files.limit");
    desk.ask_with(json!({ "op": "write", "path": "b" }), &[255, 254]);
    assert_eq!(lines("b", None, None), "! files.not_text");
}

fn lists_are_sorted_and_paged(make: Make<'_>) {
    let desk = Desk::new(make);
    let mut expected: Vec<String> = (0..250).map(|number| format!("n{number:03}")).collect();
    expected.extend(["Z".into(), "a".into(), "\u{e9}".into(), "n000x".into(), "n1".into()]);
    for name in &expected {
        desk.write(&format!("many/{name}"), "x");
    }
    // What is below a name is not in the list, and does not come between names.
    desk.write("many/n1.d/inner", "x");
    desk.write("many/n000-/inner", "x");
    expected.extend(["n1.d".into(), "n000-".into()]);
    expected.sort();
    let (mut names, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let page = desk.ask(json!({ "op": "list", "path": "many", "limit": 60, "cursor": cursor }));
        let entries = page["entries"].as_array().unwrap();
        names.extend(entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()));
        cursor = page["cursor"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((names, pages), (expected, 5));
    let entries = desk.ask(json!({ "op": "list", "path": "." }))["entries"].clone();
    assert_eq!(entries, json!([{ "name": "many", "kind": "folder", "size": 0 }]));
}

fn modes_and_dates_are_kept(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("run.sh", "old");
    desk.ask(json!({ "op": "make_folder", "path": "d" }));
    let set =
        |path: &str| desk.ask(json!({ "op": "set", "path": path, "mode": 0o750, "modified": 1_700_000_000_123u64 }));
    assert_eq!((set("run.sh"), set("d")), (Value::Null, Value::Null));
    let stat = |path: &str| desk.ask(json!({ "op": "stat", "path": path }));
    for path in ["run.sh", "d"] {
        assert_eq!(
            (stat(path)["mode"].clone(), stat(path)["modified"].clone()),
            (json!(0o750), json!(1_700_000_000_123u64))
        );
    }
    desk.write("run.sh", "newer");
    assert_eq!(stat("run.sh")["mode"], 0o750, "what could be run can be run still");
    assert_ne!(stat("run.sh")["modified"], 1_700_000_000_123u64, "and was changed now");
    desk.ask(json!({ "op": "copy", "path": "run.sh", "to": "copy.sh" }));
    assert_eq!(stat("copy.sh")["mode"], 0o750);
    desk.write("d/inner", "x");
    desk.ask(json!({ "op": "copy", "path": "d", "to": "e" }));
    assert_eq!((stat("e")["mode"].clone(), desk.text("e/inner")), (json!(0o750), json!("x")));
    desk.ask(json!({ "op": "rename", "path": "run.sh", "to": "moved.sh" }));
    assert_eq!(stat("moved.sh")["mode"], 0o750);
    desk.tree
        .view(&mut |view| {
            assert_eq!(view.look(&path("none"))?, None);
            Ok(())
        })
        .unwrap();
}
