//! What a workflow leaves behind in files. Nothing is written outside the folder that is meant for it.

use crate::failure::Failure;
use crate::paint::{self, HINT};
use isolith_core::Json;
use serde_json::{Map, Value};
use std::path::{Component, Path, PathBuf};

/// The most files of one run.
const FILES_MAX: usize = 256;

/// Writes the result, and each text in it, below a folder.
pub(super) fn write(folder: &Path, named: Option<&Path>, result: &Json) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot write to `{}`: {error}", folder.display()), "name another place with `--output`")
    };
    let below = |root: &Path, path: &Path| {
        let root = cap_std::fs::Dir::open_ambient_dir(root, cap_std::ambient_authority())?;
        root.create_dir_all(path)?;
        root.open_dir(path)
    };
    // What a workflow names stays below the folder it is run in, whatever links there are; what a person names is theirs to name.
    let dir = match named {
        Some(path) => below(folder, path),
        None => std::fs::create_dir_all(folder)
            .and_then(|()| cap_std::fs::Dir::open_ambient_dir(folder, cap_std::ambient_authority())),
    };
    let dir = dir.map_err(|error| cannot(&error))?;
    let folder = named.map_or_else(|| folder.to_owned(), |path| folder.join(path));
    let mut written = Vec::new();
    let mut put = |name: String, text: &str| -> Result<(), Failure> {
        dir.write(&name, text).map_err(|error| cannot(&error))?;
        written.push(folder.join(name));
        Ok(())
    };
    put("result.json".into(), result.text())?;
    if let Ok(text) = result.parse::<String>() {
        put(format!("output.{}", ending(&text)), &text)?;
    }
    if let Ok(fields) = result.parse::<Map<String, Value>>() {
        let texts = fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        for (name, text) in texts.take(FILES_MAX) {
            // THREAT[T-WORKFLOW-002]: a name from a script, or from a model, leads out of the folder.
            if !is_plain(name) {
                paint::complain(
                    HINT,
                    "note",
                    &format!("`{}` is no name for a file: it is in result.json only", name.escape_default()),
                );
                continue;
            }
            put(format!("{name}.{}", ending(text)), text)?;
        }
    }
    Ok(written)
}

/// A folder that a workflow names, below the one it is run in.
pub(super) fn below(named: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(named);
    // Files that begin with a dot tell other programs what to do.
    let plain =
        |part: Component<'_>| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."));
    let inside = path.components().all(|part| part == Component::CurDir || plain(part));
    if inside && path.components().any(plain) {
        return Ok(path.to_owned());
    }
    let message = format!(
        "the workflow wants its files in `{}`, which leads out of this folder [workflow.output]",
        named.escape_default()
    );
    Err(Failure::usage(message, "say where with `--output`"))
}

fn is_plain(name: &str) -> bool {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    (1..=100).contains(&name.len()) && !name.starts_with('.') && name.chars().all(fine) && name != "result"
}

/// What a text seems to be.
fn ending(text: &str) -> &'static str {
    let begin = text.trim_start();
    if begin.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return "json";
    }
    if begin.starts_with("<!") || begin.starts_with("<html") {
        return "html";
    }
    let marks = |line: &str| {
        line.starts_with('#') || line.starts_with("- ") || line.starts_with("```") || line.starts_with("* ")
    };
    if text.lines().any(marks) { "md" } else { "txt" }
}
