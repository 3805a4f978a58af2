//! Where a text can be read in two ways, both are followed.

use crate::nesting::Refusal;
use crate::walk::{Slash, Step, Swallow, Walk};
use crate::words::Word;

/// How much following two readings may cost, in open brackets copied; past that, every token counts.
const FORK_COST_MAX: usize = 1 << 18;

/// As many bytes read in vain cost as much as one bracket: what may be a template or a regular expression may be read to
/// the end of the text before it turns out to be none.
const FORK_BYTES: usize = 16;

/// A place with two readings.
#[derive(Clone, Copy)]
pub(crate) enum Fork {
    /// `/`: a regular expression or a division.
    Slash,
    /// `<!--` or `-->`: a comment or operators.
    HtmlComment,
}

impl Walk<'_> {
    /// Follows both readings until they stand at the same place in the same state, or one of them cannot be.
    pub(crate) fn follow_both(mut self, fork: Fork) -> Result<Self, Refusal> {
        self.fork_cost += self.nesting.branch_cost();
        if self.fork_cost > FORK_COST_MAX {
            self.lose(None)?;
            return Ok(self);
        }
        let mut other = Walk { nesting: self.nesting.branch(), ..self };
        // `self` takes what is longer: the regular expression, the comment.
        let mut alive = match fork {
            Fork::Slash => {
                self.previous.slash = Slash::Regex;
                other.previous.slash = Slash::Divide;
                other.line_start = false;
                !matches!(self.step()?, Step::Dead)
            }
            Fork::HtmlComment => {
                self.skip_line();
                let byte = other.bytes[other.at];
                other.settle_semicolon(Word::default());
                other.line_start = false;
                other.nesting.token(other.at)?;
                let swallow = other.next_swallow();
                other.operator(byte, swallow);
                true
            }
        };
        let mut other_alive = true;
        let mut in_vain = if alive { 0 } else { self.at - other.at };
        loop {
            match (alive, other_alive) {
                (true, true) => {}
                (false, true) => {
                    other.fork_cost += in_vain / FORK_BYTES;
                    self.stop();
                    other.nesting.remember(&self.nesting);
                    return Ok(other);
                }
                (_, false) => {
                    self.fork_cost += in_vain / FORK_BYTES;
                    other.stop();
                    if !alive {
                        self.stop();
                    }
                    self.nesting.remember(&other.nesting);
                    return Ok(self);
                }
            }
            if self.at == other.at && self.same_state(&other) {
                self.nesting.merge(&other.nesting);
                self.traits.merge(other.traits);
                self.haunted &= other.haunted;
                return Ok(self);
            }
            let (walk, is_alive) =
                if self.at <= other.at { (&mut self, &mut alive) } else { (&mut other, &mut other_alive) };
            let before = walk.at;
            match walk.step()? {
                Step::Token => {}
                Step::Dead => {
                    *is_alive = false;
                    in_vain += walk.at - before;
                }
                // The one behind is at the end, so both are.
                Step::End => {
                    self.nesting.remember(&other.nesting);
                    self.traits.merge(other.traits);
                    self.over = true;
                    return Ok(self);
                }
                // A doubt within a doubt.
                Step::Fork(_) => {
                    self.lose(Some(&other))?;
                    return Ok(self);
                }
            }
        }
    }

    fn same_state(&self, other: &Self) -> bool {
        self.previous == other.previous
            && self.line_start == other.line_start
            && self.after_semicolon == other.after_semicolon
            && self.swallow == other.swallow
            && self.nesting.same_brackets(&other.nesting)
    }

    /// No token can stand here, so the parser goes no further, unless it swallows this one.
    pub(crate) fn stop(&mut self) {
        self.over = true;
        if self.swallow == Swallow::Type {
            self.nesting.refuse_typed(self.at);
        }
    }

    /// Gives up understanding: every token that is left is one more level.
    fn lose(&mut self, other: Option<&Self>) -> Result<(), Refusal> {
        self.nesting.lose(other.map(|other| &other.nesting));
        self.nesting.refuse_typed(self.at);
        if let Some(other) = other {
            self.at = self.at.min(other.at);
            self.traits.merge(other.traits);
        }
        let mut in_word = false;
        while self.at < self.bytes.len() {
            if begins_token(self.bytes[self.at], &mut in_word) {
                self.nesting.stick();
                self.nesting.token(self.at)?;
            }
            self.at += 1;
        }
        Ok(())
    }
}

/// At most this many tokens, however they are read.
pub(crate) fn token_count(bytes: &[u8]) -> u32 {
    let mut in_word = false;
    bytes.iter().filter(|&&byte| begins_token(byte, &mut in_word)).count() as u32
}

fn begins_token(byte: u8, in_word: &mut bool) -> bool {
    let is_word = byte.is_ascii_alphanumeric() || byte >= 0x80;
    let goes_on = is_word && *in_word;
    *in_word = is_word;
    !goes_on && !byte.is_ascii_whitespace()
}
