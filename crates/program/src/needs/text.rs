//! Texts that are known in part.

use oxc::span::Span;

/// More of one text than this is not looked at: longer than any URL or path in good faith.
const BYTES_MAX: usize = 2 << 10;
/// More pieces than this are one hole.
const PIECES_MAX: usize = 24;

/// Why something is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It comes from here, and here the trail ends.
    From(Span),
    /// It comes from `input`, which may be mentioned by us alone: a lone function is called with it.
    Input,
    /// There are too many possibilities here.
    Many(Span),
    /// The trail to here is too long.
    Far(Span),
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// These characters.
    Known(String),
    /// Any characters.
    Hole(Why),
}

/// A text with holes. Two known pieces, and two holes, never stand side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Text {
    pub(super) fn known(text: &str, span: Span) -> Self {
        let mut out = Text::default();
        out.push_known(text, span);
        out
    }

    pub(super) fn hole(why: Why) -> Self {
        Text { pieces: vec![Piece::Hole(why)], bytes: 0 }
    }

    /// Adds characters; `span` is what to blame if there are too many.
    pub(super) fn push_known(&mut self, text: &str, span: Span) {
        if self.bytes + text.len() > BYTES_MAX {
            return self.push_hole(Why::Many(span));
        }
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        let count = self.pieces.len();
        match self.pieces.last_mut() {
            Some(Piece::Known(last)) => last.push_str(text),
            _ if count >= PIECES_MAX => self.push_hole(Why::Many(span)),
            _ => self.pieces.push(Piece::Known(text.to_owned())),
        }
    }

    pub(super) fn push_hole(&mut self, why: Why) {
        if !matches!(self.pieces.last(), Some(Piece::Hole(_))) {
            self.pieces.push(Piece::Hole(why));
        }
    }

    pub(super) fn push(&mut self, other: &Text, span: Span) {
        for piece in &other.pieces {
            match piece {
                Piece::Known(text) => self.push_known(text, span),
                Piece::Hole(why) => self.push_hole(*why),
            }
        }
    }

    /// How many bytes are known.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// The pieces in order; none of an empty text.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The whole text, if it has no holes.
    pub(super) fn whole(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The text before the first hole, and why that is there.
    pub(super) fn beginning(&self) -> (&str, Option<Why>) {
        match self.pieces.as_slice() {
            [Piece::Known(text), Piece::Hole(why), ..] => (text, Some(*why)),
            [Piece::Hole(why), ..] => ("", Some(*why)),
            [Piece::Known(text), ..] => (text, None),
            [] => ("", None),
        }
    }
}
