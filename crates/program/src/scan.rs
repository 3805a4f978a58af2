//! One linear walk over a program before it is parsed.
//!
//! THREAT[T-PROGRAM-001]: a program nested 100,000 levels deep overflows the stack of a recursive parser, which ends
//! the process with every run in it. The walk bounds the nesting first, and the bound says how much stack to provide.
//!
//! It must never count less than the parser nests, whatever the text is. So it takes levels back only where it is
//! certain of what it reads, and where two readings are possible (is this slash a division or a regular expression?)
//! it follows both until they agree again. When they do not, it counts every further token as one more level. Where
//! no token can stand (a string without its end, a bracket that closes another one) it stops, as the parser does.

use crate::fault::Fault;
use crate::nesting::{Bracket, Nesting, Refusal};
use crate::words::Word;

/// How much following two readings may cost, in open brackets copied; past that, every token counts.
const FORK_COST_MAX: usize = 1 << 18;

/// What the walk found.
#[derive(Clone, Copy)]
pub(crate) struct Scan {
    /// The syntax tree is at most this deep.
    pub(crate) deepest: u32,
    /// The syntax tree is at most this deep if it is read as TypeScript.
    pub(crate) typed_deepest: u32,
    /// Where reading it as TypeScript becomes too costly.
    pub(crate) typed_too_costly: Option<usize>,
    /// There is an `import` or `export` outside all brackets.
    pub(crate) module: bool,
    /// There may be a call with type arguments, `f<T>(x)`, which JavaScript reads as two comparisons.
    pub(crate) generic_call: bool,
    /// The word `accessor` occurs.
    pub(crate) accessor: bool,
    /// A word occurs that a parser of JavaScript lets pass although it is TypeScript: `class { private x }`.
    pub(crate) modifier: bool,
    /// Parentheses that may be of a function type are not followed by an arrow.
    pub(crate) arrowless: bool,
}

/// Walks over `text`, or says where it is too deep, too costly to parse, or decorated.
pub(crate) fn scan(text: &str) -> Result<Scan, Fault> {
    walk(text).map_err(|refusal| match refusal {
        Refusal::Deep(offset) => Fault::too_deep(offset),
        Refusal::Costly(offset) => Fault::too_costly(offset),
        Refusal::Decorated(offset) => Fault::decorator(offset),
    })
}

fn walk(text: &str) -> Result<Scan, Refusal> {
    let mut walk = Walk {
        text,
        bytes: text.as_bytes(),
        at: 0,
        nesting: Nesting::new(text.len()),
        previous: Previous { statement: true, slash: Slash::Regex, ..Previous::default() },
        line_start: true,
        after_semicolon: false,
        swallow: Swallow::No,
        haunted: false,
        over: false,
        fork_cost: 0,
        found: Found::default(),
    };
    while !walk.over {
        match walk.step()? {
            Step::Token => {}
            Step::End => break,
            Step::Dead => walk.stop(),
            Step::Fork(fork) => walk = walk.follow_both(fork)?,
        }
    }
    let Found { module, generic_call, accessor, modifier, arrowless } = walk.found;
    let nesting = walk.nesting;
    Ok(Scan {
        deepest: nesting.deepest(),
        typed_deepest: nesting.typed_deepest(),
        typed_too_costly: nesting.typed_too_costly(),
        module,
        generic_call,
        accessor,
        modifier,
        arrowless,
    })
}

struct Walk<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    nesting: Nesting,
    previous: Previous,
    /// Only white space and comments so far on this line.
    line_start: bool,
    /// The last token was `;`: the statement has ended unless `else` and the like follow.
    after_semicolon: bool,
    swallow: Swallow,
    /// What is left has been counted for the most lenient parser.
    haunted: bool,
    /// Nothing that is left can be parsed.
    over: bool,
    fork_cost: usize,
    found: Found,
}

#[derive(Clone, Copy, Default)]
struct Found {
    module: bool,
    generic_call: bool,
    accessor: bool,
    modifier: bool,
    arrowless: bool,
}

/// What matters of the token before the present one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Previous {
    /// What a slash means after it.
    slash: Slash,
    /// It can end an expression, so that a line end and a word after it begin a new statement.
    ends: bool,
    /// `}`, but not of a template.
    brace: bool,
    /// `.`, `?.` or `#`: the word after it is a name.
    dot: bool,
    /// A statement may begin after it.
    statement: bool,
    /// A word at the beginning of a statement: a colon after it makes it a label.
    label: bool,
    /// Its parentheses are the head of a statement.
    control: bool,
    /// `for`, whose `await` is part of the head.
    is_for: bool,
    /// 2 for `infer`, 1 for the name behind it.
    inferred: u8,
}

/// Whether a group was closed just now that may be the parameters of a function type; see [`Nesting::swallow`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Swallow {
    /// No: what this token ends has ended.
    No,
    /// This token may be taken for the arrow.
    Arrow,
    /// The last token may have been, and this one is the type behind it.
    Type,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Slash {
    Regex,
    Divide,
    #[default]
    Unknown,
}

enum Step {
    /// One token was read, or a piece of a template.
    Token,
    End,
    /// No token can stand here: in this reading the parser stops.
    Dead,
    /// Two readings are possible here.
    Fork(Fork),
}

#[derive(Clone, Copy)]
enum Fork {
    /// `/`: a regular expression or a division.
    Slash,
    /// `<!--` or `-->`: a comment or operators.
    HtmlComment,
}

impl Walk<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads one token.
    fn step(&mut self) -> Result<Step, Refusal> {
        if !self.skip_space() {
            return Ok(Step::Dead);
        }
        if self.at >= self.bytes.len() {
            return Ok(Step::End);
        }
        let start = self.at;
        let byte = self.bytes[start];
        let rest = &self.bytes[start..];
        let doubtful = match self.previous.slash {
            Slash::Regex => false,
            Slash::Unknown => true,
            // TypeScript lets a line end close `type A = B`, and a regular expression begin the next statement.
            Slash::Divide => self.line_start,
        };
        if byte == b'/' && doubtful {
            return Ok(Step::Fork(Fork::Slash));
        }
        if rest.starts_with(b"<!--") || self.line_start && rest.starts_with(b"-->") {
            return Ok(Step::Fork(Fork::HtmlComment));
        }
        if is_word_start(byte) {
            return self.word();
        }
        self.settle_semicolon(Word::default());
        self.line_start = false;
        self.nesting.token(start)?;
        let swallow = self.next_swallow();
        match byte {
            b'"' | b'\'' => return Ok(self.string(byte)),
            b'`' => {
                self.at += 1;
                self.nesting.chain();
                let step = self.template();
                if swallow == Swallow::Arrow && self.nesting.bracket() == Some(Bracket::Hole) {
                    self.haunt(start)?;
                }
                return Ok(step);
            }
            b'/' if self.previous.slash == Slash::Regex => return self.regex(),
            b'(' | b'[' | b'{' => {
                let bracket = match byte {
                    b'(' if self.previous.control => Bracket::Head,
                    b'(' => Bracket::Paren,
                    b'[' => Bracket::Square,
                    _ => Bracket::Brace,
                };
                self.at += 1;
                let group = byte == b'(' && (!self.previous.ends || swallow != Swallow::No);
                self.nesting.open(bracket, group, group && matches!(self.next_byte(), b'{' | b'[' | b'/'));
                self.previous = Previous { slash: Slash::Regex, statement: byte == b'{', ..Previous::default() };
            }
            // It ends the function that the parser gets the program in; what follows is parsed outside.
            b'}' if self.nesting.bracket().is_none() => {
                self.at += 1;
                self.nesting.chain();
                self.previous = Previous { brace: true, statement: true, ..Previous::default() };
            }
            b')' | b']' | b'}' => {
                if swallow == Swallow::Arrow {
                    self.nesting.swallow();
                }
                let Some((bracket, group)) = self.nesting.close(byte) else { return Ok(Step::Dead) };
                self.at += 1;
                if bracket == Bracket::Hole {
                    if swallow == Swallow::Arrow {
                        self.haunt(start)?;
                    }
                    return Ok(self.template());
                }
                if group && self.nesting.is_typed() {
                    self.swallow = Swallow::Arrow;
                }
                self.previous = match bracket {
                    Bracket::Brace => Previous { brace: true, statement: true, ..Previous::default() },
                    Bracket::Head => Previous { statement: true, ..Previous::default() },
                    _ => Previous { slash: Slash::Divide, ends: true, ..Previous::default() },
                };
            }
            b'@' => return Err(Refusal::Decorated(start)),
            _ => self.operator(byte, swallow),
        }
        Ok(Step::Token)
    }

    /// What this token may be, and what the next one may be after it.
    fn next_swallow(&mut self) -> Swallow {
        let next = if self.swallow == Swallow::Arrow { Swallow::Type } else { Swallow::No };
        self.found.arrowless |= next == Swallow::Type && !self.bytes[self.at..].starts_with(b"=>");
        std::mem::replace(&mut self.swallow, next)
    }

    /// To the most lenient parser, what follows is no longer inside the template: every token may nest.
    fn haunt(&mut self, offset: usize) -> Result<(), Refusal> {
        if std::mem::replace(&mut self.haunted, true) {
            return Ok(());
        }
        self.nesting.haunt(token_count(&self.bytes[offset..]), offset)
    }

    fn operator(&mut self, byte: u8, swallow: Swallow) {
        let (next, after_next) = (self.peek(1), self.peek(2));
        // As long as the parser's own lexer would make it, except that `<` and `>` may be angle brackets.
        let length = match (byte, next) {
            (b'.', b'.') if after_next == b'.' => 3,
            (b'=', b'>') | (b'+', b'+') | (b'-', b'-') | (b'&', b'&') | (b'|', b'|') | (b'?', b'?') | (b'*', b'*') => 2,
            (b'?', b'.') if !after_next.is_ascii_digit() => 2,
            (b'=' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=') => 2,
            _ => 1,
        };
        let token = &self.bytes[self.at..self.at + length];
        match token {
            b"=>" => {
                self.swallow = Swallow::No;
                self.nesting.chain();
            }
            b";" if swallow == Swallow::No => self.after_semicolon = true,
            b"," if swallow == Swallow::No => self.nesting.end_item(),
            b"=" => self.nesting.assign(),
            b"<" => self.nesting.open_angle(),
            b"?" => self.nesting.question(),
            b":" => {
                self.nesting.begin_type();
                if self.previous.label { self.nesting.stick() } else { self.nesting.chain() }
            }
            b">" => {}
            _ => self.nesting.chain(),
        }
        if byte == b'>' && self.nesting.close_angle() {
            let after = self.bytes[self.at + 1..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'>'));
            // A comment in between is as good as a bracket here: this only decides which language is tried first.
            if matches!(after, Some(b'(' | b'`' | b'\n' | b'\r' | b'/') | None) {
                self.found.generic_call = true;
            }
        }
        let slash = match token {
            b"," | b"=" | b":" | b";" | b"&&" | b"||" | b"??" | b"=>" | b"+" | b"-" | b"|" | b"&" | b"==" | b"!="
            | b"..." => Slash::Regex,
            b"!" if !self.previous.ends && !self.previous.brace => Slash::Regex,
            _ => Slash::Unknown,
        };
        let dot = matches!(token, b"." | b"?." | b"#");
        self.previous = Previous { slash, dot, statement: matches!(token, b";" | b":"), ..Previous::default() };
        self.at += length;
    }

    fn word(&mut self) -> Result<Step, Refusal> {
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest.iter().position(|&b| !IN_NAME[b as usize]).unwrap_or(rest.len());
            self.at += plain;
            match self.bytes.get(self.at) {
                None => break,
                Some(b'\\') => {
                    let Some(length) = self.escape_in_name() else { return Ok(Step::Dead) };
                    escaped = true;
                    self.at += length;
                }
                Some(&b) if b < 0x80 => break,
                // Whatever is not a space is taken for a letter; if it is none, the parser stops at it.
                _ => match self.character() {
                    Some(c) if !is_space(c) => self.at += c.len_utf8(),
                    _ => break,
                },
            }
        }
        let text = &self.bytes[start..self.at];
        let name = self.previous.dot || text[0].is_ascii_digit();
        let word = match () {
            () if name => Word::default(),
            () if escaped => Word::any(),
            () => Word::of(text),
        };
        let swallow = self.next_swallow();
        self.begin_statement(word, swallow);
        self.nesting.token(start)?;
        if word.is_sticky() {
            self.nesting.stick();
        } else if word.is_keyword() && !word.is_value() {
            self.nesting.chain();
        }
        match text {
            b"import" | b"export" if word.is_keyword() && self.nesting.bracket().is_none() => {
                self.found.module |= !matches!(self.next_byte(), b'(' | b'.');
            }
            b"accessor" => self.found.accessor = true,
            b"private" | b"protected" | b"public" | b"readonly" | b"override" | b"declare" | b"abstract"
            | b"interface" => self.found.modifier = true,
            b"extends" if self.previous.inferred == 1 => self.nesting.infer(),
            b"type" => self.nesting.begin_alias(),
            _ => {}
        }
        if word.begins_type() {
            self.nesting.begin_type();
        }
        let ends = !word.is_keyword() || word.is_value();
        let slash = match () {
            () if ends => Slash::Divide,
            () if word.is_before_regex() => Slash::Regex,
            () => Slash::Unknown,
        };
        self.previous = Previous {
            slash,
            ends,
            statement: word.leads(),
            label: !name && (self.previous.statement || self.line_start),
            control: word.is_control() || text == b"await" && self.previous.is_for,
            is_for: word.is_keyword() && text == b"for",
            inferred: if text == b"infer" { 2 } else { self.previous.inferred.saturating_sub(1) },
            ..Previous::default()
        };
        self.line_start = false;
        Ok(Step::Token)
    }

    /// Ends the statement before a word where that is certain.
    fn begin_statement(&mut self, word: Word, swallow: Swallow) {
        self.settle_semicolon(word);
        let in_statements = matches!(self.nesting.bracket(), None | Some(Bracket::Brace));
        let on_new_line = self.line_start && (self.previous.ends || self.previous.brace) && !word.continues();
        let behind_brace = self.previous.brace && word.starts_statement();
        let certain = swallow == Swallow::No && !self.previous.dot;
        if certain && in_statements && (on_new_line || behind_brace) {
            self.nesting.end_statement();
            self.previous.statement = true;
        }
    }

    /// A semicolon ends the statement, unless the next word carries it on: `if (a) b; else c`.
    fn settle_semicolon(&mut self, word: Word) {
        if std::mem::take(&mut self.after_semicolon) && !word.continues() {
            self.nesting.end_statement();
        }
    }

    /// The length of `\u0061` or `\u{61}`.
    fn escape_in_name(&self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"\\u")?;
        let digits = |bytes: &[u8]| bytes.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        match rest.strip_prefix(b"{") {
            Some(inner) if inner.get(digits(inner)) == Some(&b'}') => Some(digits(inner) + 4),
            None if digits(rest) >= 4 => Some(6),
            _ => None,
        }
    }

    fn string(&mut self, quote: u8) -> Step {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.skip_escape(),
                b'\n' | b'\r' => return Step::Dead,
                b if b == quote => {
                    self.at += 1;
                    self.previous = Previous { slash: Slash::Divide, ends: true, ..Previous::default() };
                    return Step::Token;
                }
                _ => self.at += 1,
            }
        }
        Step::Dead
    }

    /// Reads a template up to its end or its next hole.
    fn template(&mut self) -> Step {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.skip_escape(),
                b'`' => {
                    self.at += 1;
                    self.previous = Previous { slash: Slash::Divide, ends: true, ..Previous::default() };
                    return Step::Token;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.nesting.open(Bracket::Hole, false, false);
                    self.previous = Previous { slash: Slash::Regex, ..Previous::default() };
                    return Step::Token;
                }
                _ => self.at += 1,
            }
        }
        Step::Dead
    }

    fn regex(&mut self) -> Result<Step, Refusal> {
        let start = self.at;
        let (mut in_class, mut openers) = (false, 0u32);
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' | b'\r' => return Ok(Step::Dead),
                0xE2 if self.character().is_some_and(is_line_end) => return Ok(Step::Dead),
                b'\\' => {
                    self.at += 1;
                    match self.character() {
                        Some(c) if !is_line_end(c) => self.at += c.len_utf8(),
                        _ => return Ok(Step::Dead),
                    }
                    continue;
                }
                b'[' => {
                    in_class = true;
                    openers += 1;
                }
                b']' => in_class = false,
                b'(' => openers += 1,
                b'/' if !in_class => {
                    self.at += 1;
                    while self.at < self.bytes.len() && self.bytes[self.at].is_ascii_alphanumeric() {
                        self.at += 1;
                    }
                    // The pattern is parsed recursively too.
                    self.nesting.reach(openers, start)?;
                    self.previous = Previous { slash: Slash::Divide, ends: true, ..Previous::default() };
                    return Ok(Step::Token);
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(Step::Dead)
    }

    /// Skips white space and comments; false when a comment does not end.
    fn skip_space(&mut self) -> bool {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' | 0x0B | 0x0C => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|&b| b != b' ').unwrap_or(rest.len()).max(1);
                }
                b'\n' | b'\r' => {
                    self.line_start = true;
                    self.at += 1;
                }
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => {
                    let body = &self.text[self.at + 2..];
                    let Some(length) = body.find("*/") else {
                        self.at = self.bytes.len();
                        return false;
                    };
                    self.line_start |= body[..length].contains(is_line_end);
                    self.at += length + 4;
                }
                b if b >= 0x80 => match self.character() {
                    Some(c) if is_line_end(c) => {
                        self.line_start = true;
                        self.at += c.len_utf8();
                    }
                    Some(c) if is_space(c) => self.at += c.len_utf8(),
                    _ => return true,
                },
                _ => return true,
            }
        }
        true
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find(is_line_end).unwrap_or(rest.len());
    }

    /// Skips a backslash and the character behind it; a line end of two characters counts as one.
    fn skip_escape(&mut self) {
        let length = match self.text.get(self.at + 1..) {
            Some(rest) if rest.starts_with("\r\n") => 2,
            Some(rest) => rest.chars().next().map_or(0, char::len_utf8),
            None => 0,
        };
        self.at += 1 + length;
    }

    fn character(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn next_byte(&self) -> u8 {
        self.bytes[self.at..].iter().copied().find(|b| !b.is_ascii_whitespace()).unwrap_or(0)
    }

    /// Follows both readings until they stand at the same place in the same state, or one of them cannot be.
    fn follow_both(mut self, fork: Fork) -> Result<Self, Refusal> {
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
        loop {
            match (alive, other_alive) {
                (true, true) => {}
                (true, false) => {
                    self.nesting.remember(&other.nesting);
                    return Ok(self);
                }
                (false, true) => {
                    other.nesting.remember(&self.nesting);
                    return Ok(other);
                }
                (false, false) => {
                    self.nesting.remember(&other.nesting);
                    self.stop();
                    other.stop();
                    self.nesting.remember(&other.nesting);
                    return Ok(self);
                }
            }
            if self.at == other.at && self.same_state(&other) {
                self.nesting.merge(&other.nesting);
                self.found.merge(other.found);
                self.haunted &= other.haunted;
                return Ok(self);
            }
            let (walk, is_alive) =
                if self.at <= other.at { (&mut self, &mut alive) } else { (&mut other, &mut other_alive) };
            match walk.step()? {
                Step::Token => {}
                Step::Dead => *is_alive = false,
                // The end of the text in two states, or a doubt within a doubt.
                Step::End | Step::Fork(_) => {
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
    fn stop(&mut self) {
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
            self.found.merge(other.found);
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

impl Found {
    fn merge(&mut self, other: Found) {
        self.module |= other.module;
        self.generic_call |= other.generic_call;
        self.accessor |= other.accessor;
        self.modifier |= other.modifier;
        self.arrowless |= other.arrowless;
    }
}

/// The bytes that a name is made of, but for escapes and what is not ASCII.
const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'$';
        byte += 1;
    }
    table
};

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\') || byte >= 0x80
}

/// At most this many tokens, however they are read.
fn token_count(bytes: &[u8]) -> u32 {
    let mut in_word = false;
    bytes.iter().filter(|&&byte| begins_token(byte, &mut in_word)).count() as u32
}

fn begins_token(byte: u8, in_word: &mut bool) -> bool {
    let is_word = byte.is_ascii_alphanumeric() || byte >= 0x80;
    let goes_on = is_word && *in_word;
    *in_word = is_word;
    !goes_on && !byte.is_ascii_whitespace()
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How deep `count` repetitions are taken to be, as JavaScript and as TypeScript.
    fn depths(first: &str, repeated: &str, count: usize) -> (u32, u32) {
        let found = scan(&format!("{first}{}", repeated.repeat(count))).map(|s| (s.deepest, s.typed_deepest));
        found.unwrap_or((u32::MAX, u32::MAX))
    }

    #[test]
    fn what_nests_is_counted() {
        for (first, repeated) in [
            ("", "("),
            ("", "a["),
            ("", "{"),
            ("", "`${"),
            ("x=", "!"),
            ("x=", "-~"),
            ("x=", "1+"),
            ("x=", "a?b:"),
            ("x=a", ".b"),
            ("x=a", "()"),
            ("x=a", "[0]"),
            ("x=a", "``"),
            ("x=", "a=>"),
            ("x=", "typeof "),
            ("", "if(a)"),
            ("", "if(a)b;else "),
            ("", "if(a)b\nelse "),
            ("", "if(a){}\nelse "),
            ("", "if(a)do x;while(b)else "),
            ("", "for(;;)\n"),
            ("", "for await(;;)\n"),
            ("", "do "),
            ("", "a:"),
            ("{}", "a:"),
            ("break\n", "a:"),
            ("x=", "class extends a,"),
            ("x=", "a<b,"),
            ("x=1", " as a"),
            ("x=a", "!"),
            ("let x:a", "[]"),
            ("type x<", "out\nT extends <"),
            ("", "\\u0069f(a)\n"),
            ("x=", "/[/]\"(/.a+("),
            ("", "{}/a(/.b("),
            ("x=", "void/(/.a("),
            ("", "if(a)/b(/.c("),
            ("", "a\n/b/("),
            ("", "x<!--y(\n("),
            ("x=", "#in/("),
            ("x=", "x\u{301}in/("),
        ] {
            let (deepest, typed) = depths(first, repeated, 300);
            assert!(deepest >= 299 && typed >= deepest, "{repeated:?}: {deepest} {typed}");
        }
        // The pattern of a regular expression is parsed too.
        assert!(scan(&format!("x=/{}/", "(".repeat(300))).is_ok_and(|s| s.deepest >= 300));
        assert!(scan(&format!("x=/{}/", "(".repeat(6_000))).is_err());
    }

    #[test]
    fn what_only_a_lenient_parser_nests_is_counted_for_typescript() {
        for repeated in ["() ; ", "() a\n", "{a:()}\nb|", "[()]b,", "{a:()}b;c:", "() a () ; "] {
            let (_, typed) = depths("let x:", repeated, 300);
            assert!(typed >= 299, "{repeated:?}: {typed}");
        }
    }

    #[test]
    fn what_is_long_is_not_deep() {
        for repeated in [
            "f(a, b);\n",
            "f(a, b)\n",
            "const a = { b: [c, d], e: f };\n",
            "let a = b\nlet c = d\n",
            "if (a) { b() }\n",
            "if (a) b()\nelse c()\n",
            "function f() { return 1 }",
            "function f() { return 1 }\n",
            "class A { a = 1\n b() {}\n static c = 2 }\n",
            "// ((((((\n",
            "/* {{{{ */",
            "x = '((((';\n",
            "x = /[(]\\((/;\n",
            "x = `((((${a}((((`;\n",
            "for (let i = 0; i < n; i++) { a[i] }\n",
            "switch (a) { case 1: b(); break }\n",
            "a.b(c => d).e(f);\n",
            "x = a / b / c;\n",
            "if (/a/.test(b)) c();\n",
            "type A = B<C>;\n",
            "let a: B<C> = d\n",
            "interface A { b: C\n d: E }\n",
            "export const a = 1;\n",
            "const a: (b: C) => D = e;\n",
            "a = (b + c);\n",
            "do a(); while (b);\n",
            "try { a() } catch (e) { b() }\n",
            "var a=1,b=2,c=function(){return a};",
            "}/a/.test(b);{\n",
            "a\n  / b;\n",
        ] {
            let (deepest, typed) = depths("{", repeated, 2_000);
            assert!(deepest < 60, "{repeated:?}: {deepest}");
            assert!(typed < 20_000, "{repeated:?}: {typed}");
        }
    }

    #[test]
    fn lists_may_be_long() {
        for (first, repeated) in [
            ("x = [", "{ a: 1, b: '(' }, "),
            ("f(", "a < b, "),
            ("x = {", "a: b ? c : d, "),
            ("let ", "a = 1, "),
            ("x = {", "a() { b }, "),
        ] {
            let (deepest, _) = depths(first, repeated, 1_000);
            assert!(deepest < 3_000, "{repeated:?}: {deepest}");
        }
    }

    #[test]
    fn traits_are_found() {
        let found =
            |text: &str| scan(text).map(|s| (s.module, s.generic_call, s.accessor, s.modifier)).expect("shallow");
        assert_eq!(found("return 1"), (false, false, false, false));
        assert_eq!(found("export default 1"), (true, false, false, false));
        assert_eq!(
            found("import('a'); import.meta; a.export; ({ export: 1 }); 'export'"),
            (false, false, false, false)
        );
        assert_eq!(found("f<T>(x)"), (false, true, false, false));
        assert_eq!(found("for (let i = 0; i < n; i++) f(a => b)"), (false, false, false, false));
        assert_eq!(found("class A { accessor x; private y }"), (false, false, true, true));
    }

    #[test]
    fn decorators_are_seen_only_in_code() {
        assert_eq!(scan("'@'; `@`; /@/; // @\n/* @ */").map(|s| s.module), Ok(false));
        assert_eq!(scan("a; @b class C {}").map(|_| ()), Err(Fault::decorator(3)));
    }
}
