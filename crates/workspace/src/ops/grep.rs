//! Lines that fit a pattern.

use super::at_most;
use crate::pattern::Patterns;
use crate::resolve::{Last, resolve};
use crate::walk::{Ended, Next, relative, walk};
use crate::work::Work;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use isolith_core::files::{Node, NodeKind, View};
use isolith_core::{FilesError, FilesOp, FilesReason, GuestPath};
use serde_json::{Value, json};
use std::io;
use std::time::{Duration, Instant};

/// The longest pattern.
const PATTERN_BYTES_MAX: usize = 4096;
// THREAT[T-FILES-015]: patterns are matched in linear time, and the automaton that a line goes through is bounded as well.
/// How large a compiled pattern may be, and the tables that are made of it on the way.
const PROGRAM_BYTES_MAX: usize = 512 << 10;
const TABLES_BYTES_MAX: usize = 8 << 20;
/// How deep a pattern may nest.
const PATTERN_LEVELS_MAX: u32 = 100;
/// How many matches are given when nothing is said, and at most.
const MATCHES_DEFAULT: usize = 200;
const MATCHES_MAX: usize = 2000;
/// How many lines around a match, at most.
const CONTEXT_MAX: usize = 10;
/// How much is shown of one line.
const LINE_CHARS_MAX: usize = 2000;
/// Larger files are passed over.
const FILE_BYTES_MAX: u64 = 10 << 20;
/// How much one call looks through, and how long.
const TOTAL_BYTES_MAX: u64 = 256 << 20;
const TIME_MAX: Duration = Duration::from_secs(5);
/// How much one answer shows.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// How many of the files that were passed over are named.
const SKIPPED_MAX: usize = 100;
/// How much of a file is read at a time.
const PIECE_BYTES: u64 = 256 << 10;

pub(crate) fn grep(work: &Work<'_>, path: &GuestPath, op: &FilesOp) -> Result<Value, FilesError> {
    let FilesOp::Grep { pattern, literal, ignore_case, include, ignore, context, limit, .. } = op else {
        return Ok(Value::Null);
    };
    let matcher = compile(pattern, *literal, *ignore_case)?;
    let include = (!include.is_empty()).then(|| Patterns::any(include)).transpose()?;
    let context = (*context as usize).min(CONTEXT_MAX);
    let mut searcher = SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .bom_sniffing(false)
        .heap_limit(Some(2 * FILE_BYTES_MAX as usize))
        .build();
    let limit = at_most(*limit, MATCHES_DEFAULT, MATCHES_MAX);
    work.view(|view| {
        let until = Instant::now() + TIME_MAX;
        let mut found = Found::new(limit, context, until);
        let (start, node) = resolve(view, work.scope, path, Last::Follow)?.there()?;
        if node.kind == NodeKind::File {
            found.search(view, &mut searcher, &matcher, &start, &node)?;
            return Ok(found.shown(Ended::Whole));
        }
        let ended = walk(view, work.scope, &start, (*ignore).into(), &mut |path, node| {
            let fits = || include.as_ref().is_none_or(|include| include.fits(&relative(&start, path), false));
            if node.kind == NodeKind::File && fits() {
                found.search(view, &mut searcher, &matcher, path, node)?;
            }
            Ok(if found.is_full() { Next::Stop } else { Next::On })
        })?;
        Ok(found.shown(ended))
    })
}

fn compile(pattern: &str, literal: bool, ignore_case: bool) -> Result<RegexMatcher, FilesError> {
    if pattern.is_empty() {
        return Err(FilesReason::Invalid("the pattern is empty: every line fits it".into()).into());
    }
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(FilesReason::Limit(format!("a pattern may have {PATTERN_BYTES_MAX} bytes")).into());
    }
    let compiled = RegexMatcherBuilder::new()
        .case_insensitive(ignore_case)
        .fixed_strings(literal)
        .multi_line(true)
        .crlf(true)
        .size_limit(PROGRAM_BYTES_MAX)
        .dfa_size_limit(TABLES_BYTES_MAX)
        .nest_limit(PATTERN_LEVELS_MAX)
        .build(pattern);
    compiled.map_err(|error| {
        let why = format!("the pattern cannot be used: {error}. For text to the letter there is `literal`");
        FilesReason::Invalid(why).into()
    })
}

struct Found {
    matches: Vec<Value>,
    skipped: Vec<Value>,
    limit: usize,
    context: usize,
    until: Instant,
    looked_through: u64,
    shown_bytes: usize,
    full: bool,
}

impl Found {
    fn new(limit: usize, context: usize, until: Instant) -> Found {
        let (matches, skipped) = (Vec::new(), Vec::new());
        Found { matches, skipped, limit, context, until, looked_through: 0, shown_bytes: 0, full: false }
    }

    fn is_full(&mut self) -> bool {
        self.full |= Instant::now() > self.until;
        self.full
    }

    fn search(
        &mut self,
        view: &dyn View,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        path: &GuestPath,
        node: &Node,
    ) -> Result<(), FilesError> {
        if node.size > FILE_BYTES_MAX {
            self.skip(path, "large");
            return Ok(());
        }
        self.looked_through += node.size;
        if self.looked_through > TOTAL_BYTES_MAX {
            self.full = true;
            return Ok(());
        }
        let reader = Reader { view, path, size: node.size, offset: 0, piece: Vec::new(), used: 0, until: self.until };
        // One more than is wanted shows that there are more.
        let mut lines = Lines { most: self.limit - self.matches.len() + 1, ..Lines::default() };
        if let Err(error) = searcher.search_reader(matcher, reader, &mut lines) {
            match error.downcast::<FilesError>() {
                Ok(error) => return Err(error),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => self.full = true,
                // The one thing else that can go wrong is a line longer than there is room for.
                Err(_) => {
                    self.skip(path, "large");
                    return Ok(());
                }
            }
        }
        match lines.binary {
            true => self.skip(path, "binary"),
            false => self.take(path, &lines.all),
        }
        Ok(())
    }

    fn skip(&mut self, path: &GuestPath, why: &str) {
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(json!({ "path": path.to_string(), "why": why }));
        }
    }

    fn take(&mut self, path: &GuestPath, lines: &[Line]) {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.fits) {
            let near = |other: &&Line| other.number.abs_diff(line.number) <= self.context as u64;
            let mut before: Vec<&str> = lines[..at].iter().rev().take_while(near).map(|line| &*line.text).collect();
            before.reverse();
            let after: Vec<&str> = lines[at + 1..].iter().take_while(near).map(|line| &*line.text).collect();
            let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
            self.shown_bytes += line.text.len() + bytes(&before) + bytes(&after) + path.to_string().len();
            if self.matches.len() == self.limit || self.shown_bytes > ANSWER_BYTES_MAX {
                self.full = true;
                return;
            }
            let (path, number, text) = (path.to_string(), line.number, &line.text);
            self.matches.push(json!({ "path": path, "line": number, "text": text, "before": before, "after": after }));
        }
    }

    fn shown(self, ended: Ended) -> Value {
        let more = self.full || ended == Ended::Early;
        json!({ "matches": self.matches, "more": more, "skipped": self.skipped })
    }
}

struct Line {
    number: u64,
    text: String,
    fits: bool,
}

/// The lines of one file that fit, and those around them.
#[derive(Default)]
struct Lines {
    all: Vec<Line>,
    most: usize,
    fitting: usize,
    binary: bool,
}

impl Lines {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], fits: bool) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']).chars().take(LINE_CHARS_MAX).collect();
        self.all.push(Line { number: number.unwrap_or_default(), text, fits });
    }
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.push(found.line_number(), found.bytes(), true);
        self.fitting += 1;
        Ok(self.fitting < self.most)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.push(found.line_number(), found.bytes(), false);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A file, piece by piece, as long as there is time.
struct Reader<'a> {
    view: &'a dyn View,
    path: &'a GuestPath,
    size: u64,
    offset: u64,
    piece: Vec<u8>,
    used: usize,
    until: Instant,
}

impl io::Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if self.used == self.piece.len() && self.offset < self.size {
            let wanted = PIECE_BYTES.min(self.size - self.offset);
            self.piece = self.view.bytes(self.path, self.offset, wanted).map_err(io::Error::other)?;
            self.used = 0;
            // Shorter than it was is as far as it goes.
            self.offset = if self.piece.is_empty() { self.size } else { self.offset + self.piece.len() as u64 };
        }
        let given = (self.piece.len() - self.used).min(buffer.len());
        buffer[..given].copy_from_slice(&self.piece[self.used..self.used + given]);
        self.used += given;
        Ok(given)
    }
}
