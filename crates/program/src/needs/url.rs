//! URLs with holes in them, put together.

use super::text::{Piece, Text, Why};
use isolith_core::Target;
use oxc::span::Span;

/// Where the parts of a URL are, as far as it is known before the first hole.
pub(super) struct Known<'t> {
    /// With `://`.
    pub(super) scheme: &'t str,
    /// Everything after it up to what ends it, or up to the hole.
    pub(super) authority: &'t str,
    /// From what ends the authority on; nothing if the hole comes before that.
    pub(super) rest: Option<&'t str>,
}

/// Takes the beginning of a URL apart. Nothing if it is none of ours.
pub(super) fn split(text: &str) -> Option<Known<'_>> {
    let at = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| text.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme)).map(str::len))?;
    let (scheme, after) = text.split_at(at);
    let end = after.find(['/', '?', '#', '\\']);
    let (authority, rest) = after.split_at(end.unwrap_or(after.len()));
    Some(Known { scheme, authority, rest: end.map(|_| rest) })
}

/// `https://host:port`, if that much is known.
pub(super) fn origin(text: &Text) -> Option<&str> {
    let (beginning, hole) = text.beginning();
    let known = split(beginning)?;
    let whole = known.rest.is_some() || hole.is_none();
    (whole && !known.authority.is_empty()).then(|| &beginning[..known.scheme.len() + known.authority.len()])
}

/// The origin of a URL, and any path.
pub(super) fn below_origin(text: &Text, span: Span) -> Text {
    let Some(origin) = origin(text) else { return Text::hole(Why::From(span)) };
    let mut below = Text::known(origin, span);
    below.push_known("/", span);
    below.push_hole(Why::From(span));
    below
}

/// `new URL(text, base)`. A text that is not known is taken for a path, which is what it is in good faith.
pub(super) fn resolve(text: &Text, base: &Text, span: Span) -> Text {
    let (beginning, hole) = text.beginning();
    let has_scheme = beginning.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':'));
    if has_scheme || beginning.starts_with("//") || beginning.starts_with('\\') {
        return text.clone();
    }
    if hole.is_none()
        && let Some(base) = base.whole()
    {
        let joined = Target::parse(base).and_then(|base| base.join(beginning));
        return joined.map_or_else(|_| text.clone(), |target| Text::known(target.url().as_str(), span));
    }
    let Some(origin) = origin(base) else { return Text::hole(base.beginning().1.unwrap_or(Why::From(span))) };
    let mut out = Text::known(origin, span);
    if beginning.starts_with('/') {
        out.push(text, span);
        return out;
    }
    // A relative path goes behind the last slash of the base, if that is known.
    let (base_known, base_hole) = base.beginning();
    let folder = split(base_known).and_then(|known| known.rest).unwrap_or("/");
    let folder = folder.split(['?', '#']).next().unwrap_or_default();
    let up = text.pieces().iter().any(|piece| matches!(piece, Piece::Known(part) if part.contains("..")));
    match folder.rfind('/') {
        Some(slash) if base_hole.is_none() && !up => out.push_known(&folder[..=slash], span),
        _ => out.push_known("/", span),
    }
    if base_hole.is_some() || up {
        out.push_hole(Why::From(span));
    } else {
        out.push(text, span);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_as_far_as_they_are_known() {
        let span = Span::default();
        let text = |pattern: &str| {
            let mut out = Text::default();
            for (index, part) in pattern.split('*').enumerate() {
                if index > 0 {
                    out.push_hole(Why::From(span));
                }
                out.push_known(part, span);
            }
            out
        };
        for (path, base, expected) in [
            ("/a", "https://h/b/c", "https://h/a"),
            ("a", "https://h/b/c", "https://h/b/a"),
            ("../a", "https://h/b/c/d", "https://h/b/a"),
            ("https://other/x", "https://h", "https://other/x"),
            ("//other/x", "https://h", "//other/x"),
            ("/a/*", "https://h/b", "https://h/a/*"),
            ("a/*", "https://h/b/c", "https://h/b/a/*"),
            ("a/*", "https://h", "https://h/a/*"),
            ("*", "https://h/b/c?x=/", "https://h/b/*"),
            ("../*", "https://h/b/c/", "https://h/*"),
            ("/a", "https://h/*", "https://h/a"),
            ("a", "https://h/b*", "https://h/*"),
            ("/a", "*", "*"),
            ("/a", "https://*", "*"),
            ("a", "not a url", "a"),
        ] {
            assert_eq!(resolve(&text(path), &text(base), span), text(expected), "{path} {base}");
        }
    }
}
