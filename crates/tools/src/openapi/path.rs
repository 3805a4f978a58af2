//! The path of an operation, with places for its parameters.

use super::document::Broken;
use super::percent;

/// The longest path.
const PATH_BYTES_MAX: usize = 2_048;

/// A path that leads nowhere else, whatever is put into it.
#[derive(Clone, Debug)]
pub(super) struct PathTemplate {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// As it is sent.
    Text(String),
    Parameter(String),
}

impl PathTemplate {
    pub(super) fn read(path: &str) -> Result<Self, Broken> {
        if path.len() > PATH_BYTES_MAX {
            return Err(Broken::new("its path is too long"));
        }
        if !path.starts_with('/') {
            return Err(Broken::new("its path does not start with `/`"));
        }
        if path.contains(|c: char| c.is_control() || matches!(c, '?' | '#' | '\\')) {
            return Err(Broken::new("its path has a character that no path can have"));
        }
        if path.split('/').any(is_dots) {
            return Err(Broken::new("its path leads up with `..`"));
        }
        let braces = || Broken::new("the braces in its path do not match");
        let mut parts = path.split('{');
        let first = parts.next().unwrap_or_default();
        let mut pieces = vec![Piece::Text(percent::path_text(first))];
        if first.contains('}') {
            return Err(braces());
        }
        for part in parts {
            let (name, text) = part.split_once('}').ok_or_else(braces)?;
            if name.is_empty() || text.contains('}') {
                return Err(braces());
            }
            pieces.push(Piece::Parameter(name.to_owned()));
            pieces.push(Piece::Text(percent::path_text(text)));
        }
        Ok(PathTemplate { text: path.to_owned(), pieces })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The names in braces.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Parameter(name) => Some(name.as_str()),
        })
    }

    /// The path with these values, which are encoded already.
    pub(super) fn filled(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut path = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Parameter(name) => path.push_str(&value(name)?),
            }
        }
        Some(path)
    }
}

/// Whether a segment means where it stands, or one up.
pub(super) fn is_dots(segment: &str) -> bool {
    // No longer segment is one, in either spelling.
    segment.len() <= 6 && matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}
