use std::io;
use std::path::Path;

/// Puts `text` between the lines `<!-- part -->` and `<!-- /part -->` of a Markdown file.
pub(crate) fn replace(path: &Path, part: &str, text: &str) -> io::Result<()> {
    let whole = std::fs::read_to_string(path)?;
    let new = between(&whole, part, text).ok_or_else(|| {
        io::Error::other(format!("{} has no part `{part}` between `<!-- {part} -->` and its end", path.display()))
    })?;
    std::fs::write(path, new)
}

fn between(whole: &str, part: &str, text: &str) -> Option<String> {
    let (open, close) = (format!("<!-- {part} -->\n"), format!("<!-- /{part} -->"));
    let start = whole.find(&open)? + open.len();
    let end = start + whole[start..].find(&close)?;
    Some(format!("{}{text}{}", &whole[..start], &whole[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_part_changes() {
        let whole = "a\n<!-- x -->\nold\n<!-- /x -->\n<!-- y -->\nkept\n<!-- /y -->\n";
        let new = "a\n<!-- x -->\nnew\n<!-- /x -->\n<!-- y -->\nkept\n<!-- /y -->\n";
        assert_eq!(between(whole, "x", "new\n").as_deref(), Some(new));
        assert_eq!(between(whole, "z", "new\n"), None);
    }
}
