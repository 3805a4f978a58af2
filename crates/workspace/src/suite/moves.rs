//! Moving and copying.

use super::desk::Desk;
use super::{Ability, Case, Make};
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "files and folders are moved", needs: &[], run: files_and_folders_are_moved },
    Case { name: "files and folders are copied", needs: &[], run: files_and_folders_are_copied },
    Case { name: "nothing is put into itself", needs: &[], run: nothing_is_put_into_itself },
    Case { name: "nothing is moved out of reach", needs: &[], run: nothing_is_moved_out_of_reach },
    Case {
        name: "links in folders are copied as links",
        needs: &[Ability::Links],
        run: links_in_folders_are_copied_as_links,
    },
];

fn rename(desk: &Desk, path: &str, to: &str) -> Value {
    desk.ask(json!({ "op": "rename", "path": path, "to": to }))
}

fn copy(desk: &Desk, path: &str, to: &str) -> Value {
    desk.ask(json!({ "op": "copy", "path": path, "to": to }))
}

fn files_and_folders_are_moved(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "a");
    desk.write("d/x/y", "y");
    desk.write("d.z", "neighbour");
    assert_eq!(rename(&desk, "a", "new/place/a"), Value::Null);
    assert_eq!(rename(&desk, "d", "e"), Value::Null);
    assert_eq!(desk.all(), ["d.z", "e", "e/x", "e/x/y", "new", "new/place", "new/place/a"]);
    assert_eq!((desk.text("e/x/y"), desk.text("new/place/a")), (json!("y"), json!("a")));
    desk.write("b", "b");
    assert_eq!(rename(&desk, "b", "new/place/a"), Value::Null, "a file goes where a file is");
    assert_eq!(desk.text("new/place/a"), "b");
    assert_eq!(rename(&desk, "e/x/y", "e/x/y"), Value::Null);
    assert_eq!(rename(&desk, "none", "x"), "! files.not_found");
    assert_eq!(rename(&desk, "d.z", "e"), "! files.exists");
    assert_eq!(rename(&desk, "e", "new"), "! files.exists");
    assert_eq!(rename(&desk, "e", "d.z"), "! files.exists", "a folder does not replace a file");
    assert_eq!(rename(&desk, "d.z", "new/place/a/x"), "! files.not_a_folder");
    assert_eq!(rename(&desk, ".", "x"), "! files.denied");
    assert_eq!(rename(&desk, "d.z", "."), "! files.denied");
    assert_eq!(desk.all(), ["d.z", "e", "e/x", "e/x/y", "new", "new/place", "new/place/a"]);
}

fn files_and_folders_are_copied(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("d/x/y", "y");
    desk.write("d/z", "z");
    desk.ask(json!({ "op": "make_folder", "path": "d/empty" }));
    assert_eq!(copy(&desk, "d", "far/copy"), Value::Null);
    assert_eq!(copy(&desk, "d/z", "one"), Value::Null);
    desk.write("d/z", "changed");
    assert_eq!(
        (desk.text("far/copy/z"), desk.text("one"), desk.text("far/copy/x/y")),
        (json!("z"), json!("z"), json!("y"))
    );
    assert_eq!(copy(&desk, "d/z", "one"), Value::Null, "a file goes where a file is");
    assert_eq!(desk.text("one"), "changed");
    assert_eq!(copy(&desk, "d", "one"), "! files.exists");
    assert_eq!(copy(&desk, "one", "d"), "! files.exists");
    assert_eq!(copy(&desk, "d", "far"), "! files.exists");
    assert_eq!(copy(&desk, "none", "x"), "! files.not_found");
    let expected = [
        "d",
        "d/empty",
        "d/x",
        "d/x/y",
        "d/z",
        "far",
        "far/copy",
        "far/copy/empty",
        "far/copy/x",
        "far/copy/x/y",
        "far/copy/z",
        "one",
    ];
    assert_eq!(desk.all(), expected);
}

fn nothing_is_put_into_itself(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("d/e/f", "x");
    for to in ["d/x", "d/e/x", "d/e/f/x"] {
        for said in [rename(&desk, "d", to), copy(&desk, "d", to)] {
            assert!(["! files.invalid", "! files.not_a_folder"].iter().any(|code| said == *code), "{to}: {said}");
        }
    }
    assert_eq!(copy(&desk, ".", "x"), "! files.denied");
    assert_eq!(desk.all(), ["d", "d/e", "d/e/f"]);
}

fn nothing_is_moved_out_of_reach(make: Make<'_>) {
    let desk = Desk::new(make);
    let deep = vec!["d"; 60].join("/");
    desk.write(&format!("one/{deep}/file"), "x");
    desk.ask(json!({ "op": "make_folder", "path": format!("two/{deep}") }));
    let to = format!("two/{deep}/one");
    assert_eq!(rename(&desk, "one", &to), "! files.invalid");
    assert_eq!(copy(&desk, "one", &to), "! files.invalid");
    assert_eq!(desk.text(&format!("one/{deep}/file")), "x");
    assert_eq!(desk.ask(json!({ "op": "stat", "path": to })), Value::Null);
}

fn links_in_folders_are_copied_as_links(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("d/file", "x");
    desk.link("d/l", "file");
    desk.link("to_file", "d/file");
    assert_eq!(copy(&desk, "d", "e"), Value::Null);
    desk.write("e/file", "e");
    assert_eq!(desk.text("e/l"), "e");
    assert_eq!(copy(&desk, "to_file", "followed"), Value::Null);
    let stat = desk.ask(json!({ "op": "stat", "path": "followed" }));
    assert_eq!((stat["kind"].clone(), stat.get("target")), (json!("file"), None));
}
