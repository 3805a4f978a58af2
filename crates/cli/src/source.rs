//! Reading what a person points at, and saying plainly what is wrong with it.

use crate::failure::Failure;
use isolith_core::{BindingName, Json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A program and the name to show for it.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads a program from a file, or from stdin for `-`, up to the limit on source.
pub(crate) fn program(path: &Path, bytes_max: u64) -> Result<Source, Failure> {
    let shown = path.display();
    let bytes = read(path, bytes_max, "pass data as `--input FILE`, not inside the program")?;
    if bytes.contains(&0) {
        let hint = "a program is JavaScript or TypeScript in UTF-8";
        return Err(Failure::usage(format!("`{shown}` is binary, not a program"), hint));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        let message = format!("`{shown}` is not valid UTF-8: byte {at}, in line {line}");
        Failure::usage(message, "save it as UTF-8")
    })?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("`{shown}` is empty"), "write a program into it, such as `return 1 + 1`"));
    }
    let name = match path.file_name() {
        Some(name) if !is_stdin(path) => name.to_string_lossy().into_owned(),
        _ => "stdin".to_owned(),
    };
    Ok(Source { name, text })
}

/// Reads bytes from a file, or from stdin for `-`.
pub(crate) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    read(path, bytes_max, "write it in several files")
}

/// Reads a text that is neither a program nor data: a manifest, a policy.
pub(crate) fn text(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    let bytes = read(path, bytes_max, "such a file is a page or two")?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("`{}` is not valid UTF-8", path.display()), "save it as UTF-8"))
}

/// Reads a JSON document from a file, or from stdin for `-`.
pub(crate) fn json(path: &Path, bytes_max: u64) -> Result<Json, Failure> {
    let shown = path.display();
    let bytes = read(path, bytes_max, "`input` is for one message; larger data needs a granted tool")?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("`{shown}` is not valid UTF-8"), "save it as JSON in UTF-8"))?;
    Json::from_text(text.trim().to_owned())
        .map_err(|error| Failure::usage(format!("`{shown}` is {error}"), "a string needs quotes of its own: \"text\""))
}

/// Reads `name=json`.
pub(crate) fn argument(text: &str) -> Result<(BindingName, Json), Failure> {
    let hint = "write it as `--arg 'name={\"key\": 1}'`; a string needs quotes of its own: `--arg 'name=\"text\"'`";
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::usage(format!("`--arg {text}` has no `=`"), hint))?;
    let name = BindingName::new(name).map_err(|error| Failure::usage(error, hint))?;
    let value = Json::from_text(value.trim().to_owned())
        .map_err(|error| Failure::usage(format!("the value of `--arg {name}` is {error}"), hint))?;
    Ok((name, value))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path, bytes_max: u64, hint_too_large: &str) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let failed = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check who may read it",
            _ => "check that it is a readable file",
        };
        Failure::usage(format!("cannot read `{shown}`: {error}"), hint)
    };
    let mut bytes = Vec::new();
    // One byte more than allowed tells the two apart without reading on.
    let limit = bytes_max + 1;
    if is_stdin(path) {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(Failure::usage(format!("`{shown}` is a folder"), "name a file in it"));
        }
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > bytes_max {
        let message = format!("`{shown}` is larger than {bytes_max} bytes, the limit");
        return Err(Failure::usage(message, hint_too_large));
    }
    Ok(bytes)
}
