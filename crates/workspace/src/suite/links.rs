//! Links, and where they lead.

use super::desk::{Desk, path};
use super::{Ability, Case, Make};
use serde_json::{Value, json};

const LINKS: &[Ability] = &[Ability::Links];

pub(super) const CASES: &[Case] = &[
    Case { name: "links lead within", needs: LINKS, run: links_lead_within },
    Case { name: "links that lead out are not made", needs: LINKS, run: links_that_lead_out_are_not_made },
    Case { name: "links that lead out are not followed", needs: LINKS, run: links_that_lead_out_are_not_followed },
    Case { name: "nothing is written through a link", needs: LINKS, run: nothing_is_written_through_a_link },
    Case { name: "links that go round end", needs: LINKS, run: links_that_go_round_end },
    Case { name: "up means the folder that is there", needs: LINKS, run: up_means_the_folder_that_is_there },
];

/// A link that nobody would make here, as it could come from elsewhere.
fn plant(desk: &Desk, place: &str, target: &str) {
    desk.tree.change("plant", &mut |draft| draft.put_link(&path(place), target)).unwrap();
}

fn links_lead_within(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a/b/file", "text");
    assert_eq!(desk.link("to_file", "a/b/file"), Value::Null);
    assert_eq!(desk.link("a/to_folder", "b"), Value::Null);
    assert_eq!(desk.link("a/up", "../a/b"), Value::Null);
    assert_eq!(desk.link("dangling", "none"), Value::Null);
    for path in ["to_file", "a/to_folder/file", "a/up/file"] {
        assert_eq!(desk.text(path), "text", "{path}");
    }
    let stat = |path: &str| desk.ask(json!({ "op": "stat", "path": path }));
    assert_eq!(
        (stat("to_file")["kind"].clone(), stat("to_file")["target"].clone()),
        (json!("file"), json!("a/b/file"))
    );
    assert_eq!((stat("dangling")["kind"].clone(), stat("dangling")["target"].clone()), (json!("link"), json!("none")));
    assert_eq!(desk.text("dangling"), "! files.not_found");
    assert_eq!(desk.ask(json!({ "op": "list", "path": "a/to_folder" }))["entries"][0]["name"], "file");
    assert_eq!(desk.write("a/to_folder/new", "x"), 1, "a folder on the way may be linked");
    assert_eq!(desk.text("a/b/new"), "x");
    assert_eq!(desk.link("to_file", "a"), "! files.exists");
    // What a link leads to stays when the link goes.
    assert_eq!(desk.ask(json!({ "op": "remove", "path": "to_file" })), true);
    assert_eq!(desk.ask(json!({ "op": "remove", "path": "a/to_folder", "recursive": true })), true);
    assert_eq!(desk.text("a/b/file"), "text");
    assert_eq!(desk.ask(json!({ "op": "rename", "path": "a/up", "to": "moved" })), Value::Null);
    assert_eq!(desk.all(), ["a", "a/b", "a/b/file", "a/b/new", "dangling", "moved"]);
    assert_eq!(stat("moved")["kind"], "link", "it leads out from there, and is not followed");
    assert_eq!(desk.text("moved/file"), "! files.denied");
}

fn links_that_lead_out_are_not_made(make: Make<'_>) {
    let desk = Desk::new(make);
    for (place, target) in [
        ("l", ".."),
        ("l", "../x"),
        ("l", "/etc/passwd"),
        ("a/l", "../../x"),
        ("a/b/l", "../../../x"),
        ("l", "a/../../x"),
        ("l", "/"),
    ] {
        let (name, code, _) = desk.refused(json!({ "op": "link", "path": place, "target": target }));
        assert_eq!((&*name, &*code), ("DeniedError", "files.denied"), "{place} -> {target}");
    }
    for target in ["", "a\0b", "a\\b", &"x".repeat(5000)] {
        assert_eq!(desk.link("l", target), "! files.invalid", "{target:.20}");
    }
    assert_eq!(desk.all(), [""; 0]);
}

fn links_that_lead_out_are_not_followed(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a/file", "text");
    for (place, target) in
        [("up", ".."), ("out", "../../etc/passwd"), ("absolute", "/etc/passwd"), ("root", "/"), ("a/far", "../../x")]
    {
        plant(&desk, place, target);
    }
    for place in ["up", "out", "absolute", "root", "a/far"] {
        let below = format!("{place}/x");
        for path in [place, &below] {
            assert_eq!(desk.text(path), "! files.denied", "{path}");
            assert_eq!(desk.ask(json!({ "op": "list", "path": path })), "! files.denied", "{path}");
            assert_eq!(desk.write(path, "x"), "! files.denied", "{path}");
        }
        assert_eq!(desk.ask(json!({ "op": "make_folder", "path": below })), "! files.denied");
        assert_eq!(desk.ask(json!({ "op": "rename", "path": "a/file", "to": below })), "! files.denied");
        assert_eq!(desk.ask(json!({ "op": "copy", "path": place, "to": "copy" })), "! files.denied");
        assert_eq!(desk.ask(json!({ "op": "stat", "path": place }))["kind"], "link");
    }
    assert_eq!(
        desk.ask(json!({ "op": "copy", "path": "a", "to": "b" })),
        "! files.denied",
        "not with what is in a folder"
    );
    assert_eq!(desk.text("a/file"), "text");
    assert!(!desk.all().contains(&"b".into()), "and nothing of it was done");
}

fn nothing_is_written_through_a_link(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("file", "text");
    desk.ask(json!({ "op": "make_folder", "path": "d" }));
    desk.link("l", "file");
    desk.link("dangling", "new");
    desk.link("to_d", "d");
    for place in ["l", "dangling"] {
        assert_eq!(desk.write(place, "x"), "! files.denied", "{place}");
        assert_eq!(desk.ask_with(json!({ "op": "write", "path": place, "append": true }), b"x"), "! files.denied");
        let edit = json!({ "op": "edit", "path": place, "edits": [{ "old": "t", "new": "x", "replace_all": true }] });
        assert_eq!(desk.ask(edit), "! files.denied");
        assert_eq!(desk.ask(json!({ "op": "set", "path": place, "mode": 0 })), "! files.denied");
        assert_eq!(desk.ask(json!({ "op": "rename", "path": "file", "to": place })), "! files.exists");
        assert_eq!(desk.ask(json!({ "op": "copy", "path": "file", "to": place })), "! files.exists");
        assert_eq!(desk.ask(json!({ "op": "make_folder", "path": place })), "! files.exists");
    }
    assert_eq!(desk.ask(json!({ "op": "make_folder", "path": "to_d" })), Value::Null, "there is a folder");
    assert_eq!(desk.text("file"), "text");
    assert_eq!(desk.all(), ["d", "dangling", "file", "l", "to_d"]);
}

fn links_that_go_round_end(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.link("self", "self");
    desk.link("a", "b");
    desk.link("b", "a");
    desk.link("d/back", "../d");
    desk.write("d/file", "x");
    for path in ["self", "a", "b/x", "self/self"] {
        assert_eq!(desk.text(path), "! files.denied", "{path}");
    }
    assert_eq!(desk.text("d/back/back/back/file"), "x");
    assert_eq!(desk.text(&format!("d/{}file", "back/".repeat(41))), "! files.denied");
    for number in 0..60 {
        desk.link(&format!("chain{number}"), &format!("chain{}", number + 1));
    }
    desk.write("chain60", "end");
    assert_eq!((desk.text("chain20"), desk.text("chain19")), (json!("end"), json!("! files.denied")));
    // A search does not go round.
    assert_eq!(desk.ask(json!({ "op": "glob", "path": "d", "pattern": "**/file" }))["paths"], json!(["d/file"]));
    assert_eq!(desk.ask(json!({ "op": "grep", "path": "d", "pattern": "x" }))["matches"].as_array().unwrap().len(), 1);
}

fn up_means_the_folder_that_is_there(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("deep/er/file", "deep");
    desk.write("file", "top");
    desk.link("short", "deep/er");
    // From where `short` leads, up is `deep`; by its name alone it would be the root.
    plant(&desk, "via", "short/../er/file");
    assert_eq!(desk.text("via"), "deep");
    plant(&desk, "lost", "none/../file");
    assert_eq!(desk.text("lost"), "! files.not_found", "nothing is around what is not there");
    plant(&desk, "through", "file/../file");
    assert_eq!(desk.text("through"), "! files.not_a_folder");
}
