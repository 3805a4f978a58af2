//! The programs in `examples/grants` need what their README says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Language, needs};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of the README's table: file, what it shows, grants.
fn documented(readme: &str) -> BTreeMap<String, Vec<String>> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = readme.lines().filter(|line| line.contains(".ts`]")).map(cells);
    rows.map(|row| {
        let file = row[1].split('`').nth(1).unwrap().to_owned();
        (file, row[3].split('`').skip(1).step_by(2).map(str::to_owned).collect())
    })
    .collect()
}

#[test]
fn examples_need_what_they_say() {
    let folder = Path::new("../../examples/grants");
    let documented = documented(&std::fs::read_to_string(folder.join("README.md")).unwrap());
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".ts") {
            continue;
        }
        count += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        let found = needs(&source, &name, Language::TypeScript).unwrap();
        let grants: Vec<String> = found.manifest().iter().map(ToString::to_string).collect();
        assert_eq!(documented.get(&name), Some(&grants), "{name}");
        let said: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("// check: unknown ")).collect();
        let unknown: Vec<&str> = found.unknown.iter().map(|unknown| unknown.kind).collect();
        assert_eq!(unknown, said, "{name}");
        assert!(source.starts_with("// ") && source.lines().count() <= 30, "{name}");
    }
    assert_eq!(count, documented.len());
}
