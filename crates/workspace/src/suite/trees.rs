//! What trees promise to whoever is above them.

use super::desk::{Desk, path};
use super::{Ability, Case, Make};
use isolith_core::FilesReason;
use isolith_core::files::NodeKind;
use std::ops::ControlFlow;

pub(super) const CASES: &[Case] = &[
    Case { name: "a change is whole or none", needs: &[Ability::Whole], run: a_change_is_whole_or_none },
    Case { name: "a change sees itself", needs: &[], run: a_change_sees_itself },
    Case { name: "everything is shown in order", needs: &[], run: everything_is_shown_in_order },
];

fn a_change_is_whole_or_none(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a", "a");
    desk.write("d/x", "x");
    let used = desk.tree.used().unwrap();
    let modes = ["a", "d"].map(|path| desk.ask(serde_json::json!({ "op": "stat", "path": path }))["mode"].clone());
    assert_eq!(modes, [0o644, 0o755], "for all to read");
    let failed = desk.tree.change("all", &mut |draft| {
        draft.put_file(&path("a"), b"changed", None)?;
        draft.append(&path("a"), b" more")?;
        draft.put_folder(&path("new"))?;
        draft.put_file(&path("new/y"), b"y", Some(0o600))?;
        draft.copy_file(&path("new/y"), &path("z"))?;
        draft.rename(&path("d"), &path("e"))?;
        draft.remove(&path("e/x"))?;
        draft.set(&path("a"), Some(0), None)?;
        Err(FilesReason::Io("no more".into()).into())
    });
    assert_eq!(failed.unwrap_err().code(), "files.io");
    assert_eq!(desk.all(), ["a", "d", "d/x"]);
    assert_eq!((desk.text("a"), desk.text("d/x")), ("a".into(), "x".into()));
    assert_eq!(desk.tree.used().unwrap(), used);
    assert_eq!(desk.write("a", "b"), 1, "and it goes on");
}

fn a_change_sees_itself(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.tree
        .change("all", &mut |draft| {
            draft.put_folder(&path("d"))?;
            draft.put_file(&path("d/a"), b"one", Some(0o755))?;
            draft.append(&path("d/a"), b" two")?;
            let node = draft.look(&path("d/a"))?.unwrap();
            assert_eq!((node.kind, node.size, node.mode), (NodeKind::File, 7, 0o755));
            assert_eq!(draft.bytes(&path("d/a"), 4, 100)?, b"two");
            let first = node.content;
            draft.put_file(&path("d/a"), b"three", Some(0o600))?;
            let node = draft.look(&path("d/a"))?.unwrap();
            assert_eq!((node.size, node.mode), (5, 0o755), "what is replaced keeps its mode");
            assert!(first.is_none() || first != node.content, "another content has another name");
            draft.copy_file(&path("d/a"), &path("b"))?;
            draft.rename(&path("d"), &path("e"))?;
            assert_eq!(draft.look(&path("d/a"))?, None);
            assert_eq!(draft.bytes(&path("e/a"), 0, 100)?, b"three");
            assert_eq!(draft.list(&path("."), None, 10)?.len(), 2);
            assert_eq!(draft.list(&path("b"), None, 10)?.len(), 0, "what is no folder has nothing in it");
            draft.remove(&path("e"))?;
            assert_eq!(draft.look(&path("e/a"))?, None);
            Ok(())
        })
        .unwrap();
    assert_eq!(desk.all(), ["b"]);
}

fn everything_is_shown_in_order(make: Make<'_>) {
    let desk = Desk::new(make);
    for name in ["b/c/x", "b.txt", "b/c.d", "b-", "a", "b/é", "b/z"] {
        desk.write(name, "x");
    }
    let walked = |from: &str, most: usize| {
        let mut seen = Vec::new();
        desk.tree
            .view(&mut |view| {
                view.walk(&path(from), &mut |path, node| {
                    assert_eq!(Some(node), view.look(path)?.as_ref());
                    seen.push(path.to_string());
                    Ok(if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                })
            })
            .unwrap();
        seen
    };
    // A folder is followed by what is in it, whatever names come between the two as texts.
    assert_eq!(walked(".", 99), ["a", "b", "b/c", "b/c/x", "b/c.d", "b/z", "b/é", "b-", "b.txt"]);
    assert_eq!(walked("b", 2), ["b/c", "b/c/x"]);
    assert_eq!(walked("a", 99), [""; 0]);
    assert_eq!(desk.all(), walked(".", 99), "and a search shows the same");
    let names = |after: Option<&str>, most: usize| {
        let mut names = Vec::new();
        let look = &mut |view: &dyn isolith_core::files::View| {
            names = view.list(&path("b"), after, most)?.into_iter().map(|(name, _)| name).collect();
            Ok(())
        };
        desk.tree.view(look).unwrap();
        names
    };
    assert_eq!(names(None, 9), ["c", "c.d", "z", "é"]);
    assert_eq!(names(Some("c"), 2), ["c.d", "z"]);
    assert_eq!(names(Some("cc"), 1), ["z"], "after a name that is not there");
}
