//! Which file an import means.

use crate::language::Language;
use isolith_core::nearest;

/// The longest specifier that is looked for.
const SPECIFIER_BYTES_MAX: usize = 1_024;

/// What may be left out behind a path, the likeliest first.
const ENDINGS: [&str; 5] = [".ts", ".js", ".mjs", "/index.ts", "/index.js"];

/// Where a specifier leads, before anyone has looked whether something is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To this path in the workspace; empty for its root.
    Inside(String),
    /// Above the root of the workspace.
    Outside,
    /// Not to a file of the workspace at all: a package, a URL, an absolute path.
    Elsewhere,
}

/// What is made of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Code(Language),
    Json,
}

impl Kind {
    /// Told from the file's name; nothing for what is no module.
    pub(crate) fn of(path: &str) -> Option<Kind> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.')?.1 {
            "ts" | "mts" => Some(Kind::Code(Language::TypeScript)),
            // Types in it are no reason to refuse it: a program may have them whatever it is called.
            "js" | "mjs" => Some(Kind::Code(Language::Auto)),
            "json" => Some(Kind::Json),
            _ => None,
        }
    }
}

// THREAT[T-PROGRAM-004]: `../../secrets.ts` must not lead out of the workspace. A path is put together here from names
// alone, so whoever keeps the files never sees `..`, an empty name or a slash in front.
/// Resolves a specifier against the folder of the file that it stands in.
pub(crate) fn aim(specifier: &str, importer: &str) -> Aim {
    let is_relative =
        specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../");
    if !is_relative || specifier.len() > SPECIFIER_BYTES_MAX || specifier.chars().any(char::is_control) {
        return Aim::Elsewhere;
    }
    let mut names: Vec<&str> = importer.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
    names.pop();
    for name in specifier.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    return Aim::Outside;
                }
            }
            name => names.push(name),
        }
    }
    Aim::Inside(names.join("/"))
}

/// The files that a path may mean, the likeliest first.
pub(crate) fn candidates(path: &str) -> Vec<String> {
    if path.is_empty() {
        return vec!["index.ts".into(), "index.js".into()];
    }
    let mut all = vec![path.to_owned()];
    all.extend(ENDINGS.map(|end| format!("{path}{end}")));
    // TypeScript has its authors name the file that a compiler would have made.
    all.extend(path.strip_suffix(".js").map(|stem| format!("{stem}.ts")));
    all
}

/// The path that a mistyped one most likely means, whatever their endings.
pub(crate) fn nearest_path<'p>(path: &str, paths: impl Iterator<Item = &'p str> + Clone) -> Option<&'p str> {
    let stem = |path: &'p str| ENDINGS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let word = ENDINGS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let near = nearest(word, paths.clone().map(stem))?;
    paths.into_iter().find(|path| stem(path) == near)
}

/// What to write in a file to mean another one.
pub(crate) fn specifier_for(path: &str, importer: &str) -> String {
    let folder: Vec<&str> =
        importer.rsplit_once('/').map(|(folder, _)| folder.split('/').collect()).unwrap_or_default();
    let names: Vec<&str> = path.split('/').collect();
    let shared = folder.iter().zip(&names).take_while(|(a, b)| a == b).count().min(names.len() - 1);
    let up = if shared == folder.len() { "./".to_owned() } else { "../".repeat(folder.len() - shared) };
    format!("{up}{}", names[shared..].join("/"))
}

/// The name by which an engine knows a file. A dot in front would make the engine take it for a relative one.
pub(crate) fn engine_name(path: &str) -> String {
    if path.starts_with('.') { format!("/{path}") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_resolved_against_their_file() {
        let inside = |path: &str| Aim::Inside(path.into());
        for (specifier, importer, expected) in [
            ("./a", "main.ts", inside("a")),
            ("./a.ts", "lib/main.ts", inside("lib/a.ts")),
            ("../a", "lib/x/main.ts", inside("lib/a")),
            ("../../a", "lib/x/main.ts", inside("a")),
            ("./.././/./a//b/", "lib/main.ts", inside("a/b")),
            ("..", "lib/main.ts", inside("")),
            (".", "lib/main.ts", inside("lib")),
            ("./.hidden/a", "main.ts", inside(".hidden/a")),
            ("./...", "main.ts", inside("...")),
            ("../a", "main.ts", Aim::Outside),
            ("./../lib/../../lib/a", "lib/main.ts", Aim::Outside),
            ("../a", "/main.ts", Aim::Outside),
            ("../a", "../../main.ts", Aim::Outside),
            ("./a", "", inside("a")),
            ("./a", "/x/main.ts", inside("x/a")),
            ("a", "main.ts", Aim::Elsewhere),
            (".hidden/a", "main.ts", Aim::Elsewhere),
            ("/a", "main.ts", Aim::Elsewhere),
            ("", "main.ts", Aim::Elsewhere),
            ("node:fs", "main.ts", Aim::Elsewhere),
            ("https://x.example/a.ts", "main.ts", Aim::Elsewhere),
            ("file:///a.ts", "main.ts", Aim::Elsewhere),
            ("#a", "main.ts", Aim::Elsewhere),
            ("./a\0b", "main.ts", Aim::Elsewhere),
            ("./a\nb", "main.ts", Aim::Elsewhere),
        ] {
            assert_eq!(aim(specifier, importer), expected, "{specifier} in {importer}");
        }
        assert_eq!(aim(&format!("./{}", "a".repeat(SPECIFIER_BYTES_MAX)), "main.ts"), Aim::Elsewhere);
    }

    #[test]
    fn what_is_written_for_a_file_leads_to_it() {
        for (path, importer, expected) in [
            ("a.ts", "main.ts", "./a.ts"),
            ("lib/a.ts", "main.ts", "./lib/a.ts"),
            ("lib/a.ts", "lib/b.ts", "./a.ts"),
            ("lib/a.ts", "lib/x/b.ts", "../a.ts"),
            ("a.ts", "lib/x/b.ts", "../../a.ts"),
            ("lib/y/a.ts", "lib/x/b.ts", "../y/a.ts"),
            ("lib", "lib/b.ts", "../lib"),
        ] {
            assert_eq!(specifier_for(path, importer), expected);
            assert_eq!(aim(expected, importer), Aim::Inside(path.into()));
        }
    }

    #[test]
    fn endings_are_guessed_in_their_order() {
        assert_eq!(candidates("a"), ["a", "a.ts", "a.js", "a.mjs", "a/index.ts", "a/index.js"]);
        assert_eq!(candidates("a.js").last().map(String::as_str), Some("a.ts"));
        assert_eq!(candidates(""), ["index.ts", "index.js"]);
    }
}
