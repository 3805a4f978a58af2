//! Which modules a test can reach: those whose path stands in it, or in one of them, as a text.

use isolith_core::Module;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// More than any test reaches.
const MODULES_MAX: usize = 1_000;

/// Every module that a test at `name` (a path below `root`) can reach by a relative path, itself included. Paths that
/// lead nowhere are left out: that they cannot be loaded may be the point of the test.
pub(crate) fn reachable(root: &Path, name: &str, source: &str) -> Vec<Module> {
    let mut found: BTreeMap<String, Arc<str>> = BTreeMap::new();
    let mut queue: Vec<(String, Arc<str>)> = vec![(name.to_owned(), source.into())];
    while let Some((base, text)) = queue.pop() {
        for path in paths(&text).filter_map(|path| resolve(&base, path)) {
            if !found.contains_key(&path)
                && found.len() < MODULES_MAX
                && let Ok(text) = std::fs::read_to_string(root.join(&path))
            {
                let text: Arc<str> = text.into();
                found.insert(path.clone(), Arc::clone(&text));
                queue.push((path, text));
            }
        }
    }
    found.into_iter().map(|(name, code)| Module { name: name.into(), code }).collect()
}

/// Texts in quotes that start with `./` or `../`.
fn paths(source: &str) -> impl Iterator<Item = &str> {
    source.match_indices(['"', '\'', '`']).filter_map(|(at, quote)| {
        let line = source[at + 1..].lines().next()?;
        let (text, _) = line.split_once(quote)?;
        (text.starts_with("./") || text.starts_with("../")).then_some(text)
    })
}

/// The path that the engine makes of a relative one: parts `.` and `..` count at its start only. Nothing when it leaves
/// the root.
fn resolve(base: &str, path: &str) -> Option<String> {
    let mut folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut rest = path;
    loop {
        if let Some(next) = rest.strip_prefix("./") {
            rest = next;
        } else if let Some(next) = rest.strip_prefix("../") {
            if folder.is_empty() {
                return None;
            }
            folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
            rest = next;
        } else if rest.split('/').any(|part| part == "..") {
            return None;
        } else if folder.is_empty() {
            return Some(rest.to_owned());
        } else {
            return Some(format!("{folder}/{rest}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_found_and_resolved() {
        let source = "import './a.js'; import x from \"../b.js\"; import(`./c.js`); import 'd'; '/e'; './open\n'";
        assert_eq!(paths(source).collect::<Vec<_>>(), ["./a.js", "../b.js", "./c.js"]);
        let rows = [
            ("test/m/t.js", "./a.js", Some("test/m/a.js")),
            ("test/m/t.js", "./../a.js", Some("test/a.js")),
            ("test/m/t.js", "../../a.js", Some("a.js")),
            ("test/m/t.js", "../../../a.js", None),
            ("test/m/t.js", "./x/../../../../../etc/passwd", None),
            ("t.js", "./a.js", Some("a.js")),
        ];
        for (base, path, expected) in rows {
            assert_eq!(resolve(base, path).as_deref(), expected, "{base} {path}");
        }
    }
}
