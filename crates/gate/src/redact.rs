//! Taking secrets out of what a run gets to see.

mod forms;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// Longer secrets are looked for piece by piece, so that no automaton is large.
const PIECE_BYTES_MAX: usize = 4 << 10;

/// Takes secrets out of what a run gets to see, and puts `[redacted NAME]` in their place.
///
/// It knows a secret as it is, percent-encoded, in base64 of both alphabets at any offset, in hex, and escaped for JSON and
/// HTML. What it cannot know is every form in which a server that holds a secret may choose to tell it. In base64 the
/// characters at both ends that a secret shares with its neighbours stay; they tell less than a byte of it. A secret of less
/// than four bytes is replaced as it is, wherever it occurs, and in no other form; an empty one never.
///
/// Secrets can be added while it is in use.
#[derive(Default)]
pub struct Redactor {
    known: RwLock<Known>,
    any: AtomicBool,
}

#[derive(Default)]
struct Known {
    secrets: Vec<(String, Zeroizing<String>)>,
    search: Option<Arc<Search>>,
}

/// What is looked for, and what takes its place.
struct Search {
    automaton: AhoCorasick,
    /// In order of bytes, each with its replacement.
    patterns: Vec<(Vec<u8>, Arc<str>)>,
    longest: usize,
}

impl Redactor {
    /// Knows no secret yet.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// Learns a secret. Learning it again costs nothing.
    pub fn add(&self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.secrets.iter().any(|(_, other)| other.as_str() == value) {
            return;
        }
        known.secrets.push((name.to_owned(), Zeroizing::new(value.to_owned())));
        known.search = Search::new(&known.secrets);
        self.any.store(known.search.is_some(), Ordering::Release);
    }

    /// Whether it knows no secret.
    pub fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            // Every pattern is whole characters, and so is every replacement.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
            Cow::Borrowed(_) => Cow::Borrowed(text),
        }
    }

    /// The bytes without secrets.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self.search() {
            Some(search) if search.automaton.is_match(bytes) => {
                let mut out = Vec::with_capacity(bytes.len());
                search.replace(bytes, 0, bytes.len(), &mut out);
                Cow::Owned(out)
            }
            _ => Cow::Borrowed(bytes),
        }
    }

    /// Takes secrets out of bytes that come piece by piece.
    pub fn stream(self: &Arc<Self>) -> RedactStream {
        RedactStream { redactor: self.clone(), held: Vec::new() }
    }

    fn search(&self) -> Option<Arc<Search>> {
        if self.is_empty() {
            return None;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).search.clone()
    }
}

/// Takes secrets out of bytes that come piece by piece, wherever the pieces are cut.
pub struct RedactStream {
    redactor: Arc<Redactor>,
    /// What may be the beginning of a secret.
    held: Vec<u8>,
}

impl RedactStream {
    /// Takes the next bytes, and gives those that are certain to be no part of a secret.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(search) = self.redactor.search() else {
            let mut out = std::mem::take(&mut self.held);
            out.extend_from_slice(bytes);
            return out;
        };
        self.held.extend_from_slice(bytes);
        // THREAT[T-SECRET-002]: a secret is cut between two pieces; what may be its beginning waits for the rest.
        let (mut out, mut at) = (Vec::with_capacity(self.held.len()), 0);
        loop {
            let open = at + search.first_open(&self.held[at..]);
            let done = search.replace(&self.held, at, open, &mut out);
            at = done.max(open);
            if done <= open {
                break;
            }
            // A secret reached into what looked like the beginning of another: look again behind it.
        }
        self.held.drain(..at);
        out
    }

    /// What is left when nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.redactor.bytes(&held).into_owned()
    }
}

impl Search {
    fn new(secrets: &[(String, Zeroizing<String>)]) -> Option<Arc<Search>> {
        let mut patterns: BTreeMap<Vec<u8>, Arc<str>> = BTreeMap::new();
        for (name, value) in secrets {
            let shown: Arc<str> = format!("[redacted {name}]").into();
            for piece in pieces(value) {
                for form in forms::of(piece) {
                    patterns.entry(form).or_insert_with(|| shown.clone());
                }
            }
        }
        Search::of(patterns.into_iter().collect()).or_else(|| {
            // Only gigabytes of secrets get here. Rather nothing is seen than all of it.
            Search::of((0..=u8::MAX).map(|byte| (vec![byte], "[redacted]".into())).collect())
        })
    }

    fn of(patterns: Vec<(Vec<u8>, Arc<str>)>) -> Option<Arc<Search>> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // The quicker kind takes hundreds of bytes for each byte of a pattern.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|(pattern, _)| pattern))
            .ok()?;
        let longest = patterns.iter().map(|(pattern, _)| pattern.len()).max()?;
        Some(Arc::new(Search { automaton, patterns, longest }))
    }

    /// Copies from `at` up to `limit`, with replacements for what begins before `limit`. Says how far it got, which is behind
    /// `limit` when the last match reaches there.
    fn replace(&self, bytes: &[u8], mut at: usize, limit: usize, out: &mut Vec<u8>) -> usize {
        while let Some(found) = self.automaton.find(Input::new(bytes).range(at..)) {
            if found.start() >= limit {
                break;
            }
            out.extend_from_slice(&bytes[at..found.start()]);
            out.extend_from_slice(self.patterns[found.pattern().as_usize()].1.as_bytes());
            at = found.end();
        }
        if at < limit {
            out.extend_from_slice(&bytes[at..limit]);
            at = limit;
        }
        at
    }

    /// Where the first run of bytes begins that reaches to the end and may go on to be a secret.
    fn first_open(&self, bytes: &[u8]) -> usize {
        let from = (bytes.len() + 1).saturating_sub(self.longest);
        (from..bytes.len()).find(|at| self.may_go_on(&bytes[*at..])).unwrap_or(bytes.len())
    }

    fn may_go_on(&self, start: &[u8]) -> bool {
        // Those that start so are next to each other, and the one that is no longer than this comes first.
        let first = self.patterns.partition_point(|(pattern, _)| pattern.as_slice() < start);
        self.patterns[first..].iter().take(2).any(|(p, _)| p.len() > start.len() && p.starts_with(start))
    }
}

/// Cuts between characters.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES_MAX.min(rest.len())));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
