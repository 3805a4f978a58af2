use crate::fork::{Fork, token_count};
use crate::nesting::{Bracket, Nesting, Refusal};
use crate::scan::{Scan, Traits};
use crate::words::Word;

/// How far ahead of `>` the parenthesis of a call with type arguments is looked for.
const GENERIC_CALL_BYTES: usize = 64;

/// A place in a text, and what is known of the text before it.
pub(crate) struct Walk<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    pub(crate) at: usize,
    pub(crate) nesting: Nesting,
    pub(crate) previous: Previous,
    /// Only white space and comments so far on this line.
    pub(crate) line_start: bool,
    /// The last token was `;`: the statement has ended unless `else` and the like follow.
    pub(crate) after_semicolon: bool,
    pub(crate) swallow: Swallow,
    /// What is left has been counted for the most lenient parser.
    pub(crate) haunted: bool,
    /// Nothing that is left can be parsed.
    pub(crate) over: bool,
    pub(crate) fork_cost: usize,
    pub(crate) traits: Traits,
}

/// What matters of the token before the present one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Previous {
    /// What a slash means after it.
    pub(crate) slash: Slash,
    /// It can end an expression, so that a line end and a word after it begin a new statement.
    ends: bool,
    /// `}`, but not of a template.
    brace: bool,
    /// `>`
    angle: bool,
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
pub(crate) enum Swallow {
    /// No: what this token ends has ended.
    No,
    /// This token may be taken for the arrow.
    Arrow,
    /// The last token may have been, and this one is the type behind it.
    Type,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Slash {
    Regex,
    Divide,
    #[default]
    Unknown,
}

pub(crate) enum Step {
    /// One token was read, or a piece of a template.
    Token,
    End,
    /// No token can stand here: in this reading the parser stops.
    Dead,
    /// Two readings are possible here.
    Fork(Fork),
}

impl Walk<'_> {
    /// Walks over all of `text`.
    pub(crate) fn over(text: &str) -> Result<Scan, Refusal> {
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
            traits: Traits::default(),
        };
        while !walk.over {
            match walk.step()? {
                Step::Token => {}
                Step::End => break,
                Step::Dead => walk.stop(),
                Step::Fork(fork) => walk = walk.follow_both(fork)?,
            }
        }
        let Walk { nesting, traits, .. } = walk;
        Ok(Scan {
            deepest: nesting.deepest(),
            typed_deepest: nesting.typed_deepest(),
            typed_too_costly: nesting.typed_too_costly(),
            traits,
        })
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads one token.
    pub(crate) fn step(&mut self) -> Result<Step, Refusal> {
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
    pub(crate) fn next_swallow(&mut self) -> Swallow {
        let next = if self.swallow == Swallow::Arrow { Swallow::Type } else { Swallow::No };
        self.traits.arrowless |= next == Swallow::Type && !self.bytes[self.at..].starts_with(b"=>");
        std::mem::replace(&mut self.swallow, next)
    }

    /// To the most lenient parser, what follows is no longer inside the template: every token may nest.
    fn haunt(&mut self, offset: usize) -> Result<(), Refusal> {
        if std::mem::replace(&mut self.haunted, true) {
            return Ok(());
        }
        self.nesting.haunt(token_count(&self.bytes[offset..]), offset)
    }

    pub(crate) fn operator(&mut self, byte: u8, swallow: Swallow) {
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
            let mut ahead = self.bytes[self.at + 1..].iter().take(GENERIC_CALL_BYTES);
            let after = ahead.find(|b| !matches!(b, b' ' | b'\t' | b'>'));
            // A comment in between is as good as a bracket here: this only decides which language is tried first.
            if matches!(after, Some(b'(' | b'`' | b'\n' | b'\r' | b'/') | None) {
                self.traits.generic_call = true;
            }
        }
        let slash = match token {
            b"," | b"=" | b":" | b";" | b"&&" | b"||" | b"??" | b"=>" | b"+" | b"-" | b"|" | b"&" | b"==" | b"!="
            | b"..." => Slash::Regex,
            b"!" if !self.previous.ends && !self.previous.brace => Slash::Regex,
            _ => Slash::Unknown,
        };
        let dot = matches!(token, b"." | b"?." | b"#");
        let (angle, statement) = (token == b">", matches!(token, b";" | b":"));
        self.previous = Previous { slash, angle, dot, statement, ..Previous::default() };
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
                self.traits.module |= !matches!(self.next_byte(), b'(' | b'.');
            }
            b"accessor" => self.traits.accessor = true,
            b"private" | b"protected" | b"public" | b"readonly" | b"override" | b"declare" | b"abstract"
            | b"interface" => self.traits.modifier = true,
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
        // A type may end in an angle bracket, behind which an operand would be another reading.
        let ends = self.previous.ends || self.previous.brace || self.previous.angle && word.is_no_operand();
        let on_new_line = self.line_start && ends && !word.continues();
        let behind_brace = self.previous.brace && word.starts_statement();
        let certain = swallow == Swallow::No && !self.previous.dot;
        if certain && in_statements && (on_new_line || behind_brace) {
            self.nesting.end_statement();
            self.previous.statement = true;
        }
    }

    /// A semicolon ends the statement, unless the next word carries it on: `if (a) b; else c`.
    pub(crate) fn settle_semicolon(&mut self, word: Word) {
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

    pub(crate) fn skip_line(&mut self) {
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

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}')
}
