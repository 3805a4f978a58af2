//! Operations in any order, against a model that is a map and nothing else.

use isolith_core::files::{FileTree, Room};
use isolith_workspace::Memory;
use isolith_workspace::suite::Desk;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Paths to files' texts, and to nothing for folders.
type Model = BTreeMap<Vec<&'static str>, Option<String>>;

#[derive(Clone, Debug)]
enum Op {
    Write(Vec<&'static str>, String),
    Append(Vec<&'static str>, String),
    Make(Vec<&'static str>),
    Remove(Vec<&'static str>, bool),
    Rename(Vec<&'static str>, Vec<&'static str>),
    Copy(Vec<&'static str>, Vec<&'static str>),
    Undo,
}

fn path() -> impl Strategy<Value = Vec<&'static str>> {
    // Names of which some begin with others, so that an order of texts and one of paths differ.
    proptest::collection::vec(proptest::sample::select(vec!["a", "a.b", "a-", "b"]), 1..4)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (path(), "[xy]{0,3}").prop_map(|(path, text)| Op::Write(path, text)),
        1 => (path(), "[xy]{0,3}").prop_map(|(path, text)| Op::Append(path, text)),
        2 => path().prop_map(Op::Make),
        2 => (path(), any::<bool>()).prop_map(|(path, all)| Op::Remove(path, all)),
        2 => (path(), path()).prop_map(|(path, to)| Op::Rename(path, to)),
        2 => (path(), path()).prop_map(|(path, to)| Op::Copy(path, to)),
        1 => Just(Op::Undo),
    ]
}

fn is_folder(model: &Model, path: &[&'static str]) -> bool {
    path.is_empty() || model.get(path).is_some_and(Option::is_none)
}

/// Makes the folders on the way, unless a file is in it.
fn make_way(model: &mut Model, path: &[&'static str]) -> bool {
    let ways: Vec<_> = (1..path.len()).map(|length| &path[..length]).collect();
    if ways.iter().any(|way| model.get(*way).is_some_and(Option::is_some)) {
        return false;
    }
    for way in ways {
        model.entry(way.to_vec()).or_insert(None);
    }
    true
}

fn below(model: &Model, path: &[&'static str]) -> Vec<(Vec<&'static str>, Option<String>)> {
    model
        .iter()
        .filter(|(place, _)| place.starts_with(path))
        .map(|(place, what)| (place.clone(), what.clone()))
        .collect()
}

/// What becomes of a model; nothing when it is refused.
fn after(model: &Model, op: &Op) -> Option<Model> {
    let mut next = model.clone();
    match op {
        Op::Write(path, text) | Op::Append(path, text) => {
            if is_folder(model, path) || !make_way(&mut next, path) {
                return None;
            }
            let before = model.get(path).cloned().flatten().filter(|_| matches!(op, Op::Append(..)));
            next.insert(path.clone(), Some(before.unwrap_or_default() + text));
        }
        Op::Make(path) => {
            if model.get(path).is_some_and(Option::is_some) || !make_way(&mut next, path) {
                return None;
            }
            next.insert(path.clone(), None);
        }
        Op::Remove(path, all) => {
            let gone = below(model, path);
            if gone.len() > 1 && !all {
                return None;
            }
            gone.iter().for_each(|(place, _)| drop(next.remove(place)));
        }
        Op::Rename(path, to) | Op::Copy(path, to) => {
            let (from, there) = (model.get(path)?, model.get(to));
            if path == to {
                return Some(next);
            }
            let free = there.is_none() || (from.is_some() && there.is_some_and(Option::is_some));
            if to.starts_with(path) || !free || !make_way(&mut next, to) {
                return None;
            }
            let moved = below(model, path);
            if matches!(op, Op::Rename(..)) {
                moved.iter().for_each(|(place, _)| drop(next.remove(place)));
            }
            for (place, what) in moved {
                next.insert(to.iter().chain(&place[path.len()..]).copied().collect(), what);
            }
        }
        Op::Undo => return None,
    }
    Some(next)
}

fn asked(op: &Op) -> (Value, &str) {
    match op {
        Op::Write(path, text) => (json!({ "op": "write", "path": path.join("/") }), text),
        Op::Append(path, text) => (json!({ "op": "write", "path": path.join("/"), "append": true }), text),
        Op::Make(path) => (json!({ "op": "make_folder", "path": path.join("/") }), ""),
        Op::Remove(path, all) => (json!({ "op": "remove", "path": path.join("/"), "recursive": all }), ""),
        Op::Rename(path, to) => (json!({ "op": "rename", "path": path.join("/"), "to": to.join("/") }), ""),
        Op::Copy(path, to) => (json!({ "op": "copy", "path": path.join("/"), "to": to.join("/") }), ""),
        Op::Undo => (json!({ "op": "undo" }), ""),
    }
}

fn seen(desk: &Desk) -> Vec<(String, Option<String>)> {
    let look = |path: String| {
        let is_file = desk.ask(json!({ "op": "stat", "path": path }))["kind"] == "file";
        let text = is_file.then(|| desk.text(&path).as_str().unwrap_or_default().to_owned());
        (path, text)
    };
    desk.all().into_iter().map(look).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_a_map_of_paths(ops in proptest::collection::vec(op(), 1..40)) {
        let desk = Desk::new(&|room: Room| Arc::new(Memory::new(room)) as Arc<dyn FileTree>);
        // What it was after each change, the last one last.
        let mut models = vec![Model::new()];
        for op in &ops {
            let model = models.last().cloned().unwrap_or_default();
            let (asking, text) = asked(op);
            let said = desk.ask_with(asking, text.as_bytes());
            let refused = said.as_str().is_some_and(|said| said.starts_with("! "));
            match op {
                Op::Undo => {
                    prop_assert_eq!(refused, models.len() == 1, "{:?}: {}", op, &said);
                    if !refused {
                        let before = models[models.len() - 2].clone();
                        models.push(before);
                    }
                }
                op => {
                    let next = after(&model, op);
                    prop_assert_eq!(refused, next.is_none(), "{:?}: {}", op, &said);
                    let is_nothing = next.as_ref() == Some(&model) && !matches!(op, Op::Write(..) | Op::Append(..) | Op::Copy(..));
                    let to_itself = matches!(op, Op::Copy(path, to) if path == to);
                    if let Some(next) = next.filter(|_| !is_nothing && !to_itself) {
                        models.push(next);
                    }
                }
            }
            let expected: Vec<(String, Option<String>)> = models.last().into_iter().flatten().map(|(path, what)| (path.join("/"), what.clone())).collect();
            prop_assert_eq!(seen(&desk), expected, "{:?}", op);
            let used = desk.tree.used().map(|used| used.0);
            let bytes = models.last().into_iter().flatten().filter_map(|(_, text)| text.as_ref()).map(String::len).sum::<usize>();
            prop_assert_eq!(used, Ok(isolith_core::files::Used { bytes: bytes as u64, files: models.last().map_or(0, Model::len) as u64 }));
        }
    }
}
