use crate::fault::Fault;

/// How deep a program may nest.
///
/// Parsing, checking, stripping and printing are recursive, and a stack overflow would end the whole process. People
/// and models stay below a few dozen levels; generated code with a long `a + b + c + …` reaches hundreds.
pub(crate) const NESTING_MAX: u32 = 5_000;

/// Effort a program of any size may cost, in attempts to parse one token.
const EFFORT_BASE: u64 = 400_000;

/// Effort a program may cost beyond that, for each of its bytes.
const EFFORT_PER_BYTE: u64 = 4;

/// Attempts and levels are added up in these parts of one attempt: a level costs far less than an attempt.
const PARTS: u64 = 32;

/// How deep the syntax tree can be at one place, as far as the tokens before it tell: never less than it is.
///
/// Every level of recursion takes a token: a bracket, an operator, a keyword. So the depth at a place is at most the
/// number of such tokens that may still be open there, which is what a [`Level`] counts inside each bracket.
#[derive(Clone)]
pub(crate) struct Nesting {
    frames: Vec<Frame>,
    level: Level,
    /// Sum over the frames that are open, without `level`.
    outer: Level,
    /// How many of the frames may be the head of an arrow function.
    groups: u32,
    deepest: u32,
    effort: u64,
    effort_max: u64,
}

/// One open bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bracket {
    /// `(`, as a group, a call or a list of parameters.
    Paren,
    /// `(` behind `if`, `for`, `while` or `with`.
    Head,
    /// `[`
    Square,
    /// `{`
    Brace,
    /// `${` in a template.
    Hole,
}

#[derive(Clone, Copy)]
struct Frame {
    bracket: Bracket,
    group: bool,
    level: Level,
}

/// What may be open between a bracket and the present place.
#[derive(Clone, Copy, Default)]
struct Level {
    /// What a comma ends: operators, member accesses, calls.
    chain: u32,
    /// What only the end of a statement ends: `if (a) if (b)`, labels, `<`.
    sticky: u32,
    /// `<` since the last statement: each may be a comparison or open type arguments, and a parser finds out by trying.
    angles: u32,
    /// `?` since the last comma: after each, an arrow function may or may not have a return type.
    questions: u32,
}

impl Level {
    fn depth(&self) -> u32 {
        self.chain + self.sticky
    }

    fn plus(self, other: Level) -> Level {
        Level {
            chain: self.chain + other.chain,
            sticky: self.sticky + other.sticky,
            angles: self.angles + other.angles,
            questions: self.questions + other.questions,
        }
    }

    fn minus(self, other: Level) -> Level {
        Level {
            chain: self.chain - other.chain,
            sticky: self.sticky - other.sticky,
            angles: self.angles - other.angles,
            questions: self.questions - other.questions,
        }
    }

    fn max(self, other: Level) -> Level {
        Level {
            chain: self.chain.max(other.chain),
            sticky: self.sticky.max(other.sticky),
            angles: self.angles.max(other.angles),
            questions: self.questions.max(other.questions),
        }
    }
}

impl Nesting {
    pub(crate) fn new(source_bytes: usize) -> Self {
        Nesting {
            frames: Vec::new(),
            level: Level::default(),
            outer: Level::default(),
            groups: 0,
            deepest: 0,
            effort: 0,
            effort_max: (EFFORT_BASE + EFFORT_PER_BYTE * source_bytes as u64) * PARTS,
        }
    }

    /// The deepest place so far.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The innermost open bracket.
    pub(crate) fn bracket(&self) -> Option<Bracket> {
        self.frames.last().map(|frame| frame.bracket)
    }

    /// Counts one token of any kind at `offset`; fails when the program is too deep or too costly there.
    pub(crate) fn token(&mut self, offset: usize) -> Result<(), Fault> {
        self.reach(0, offset)?;
        // What is inside an open guess is parsed once for each outcome of the guess, so guesses inside guesses make
        // parsing quadratic. The limit is on the sum, because a long program may repeat a shallow nest many times.
        let sum = self.outer.plus(self.level);
        let tries = self.groups + sum.angles + sum.questions;
        self.effort += u64::from(tries) * PARTS + u64::from(self.depth());
        if self.effort > self.effort_max {
            return Err(Fault::too_costly(offset));
        }
        Ok(())
    }

    /// Makes sure that `more` levels can be had at this place.
    pub(crate) fn reach(&mut self, more: u32, offset: usize) -> Result<(), Fault> {
        let depth = self.depth().saturating_add(more);
        self.deepest = self.deepest.max(depth);
        if depth > NESTING_MAX { Err(Fault::too_deep(offset)) } else { Ok(()) }
    }

    fn depth(&self) -> u32 {
        self.outer.depth() + self.level.depth() + self.frames.len() as u32
    }

    /// One more level, until the next comma.
    pub(crate) fn chain(&mut self) {
        self.level.chain += 1;
    }

    /// One more level, until the end of the statement.
    pub(crate) fn stick(&mut self) {
        self.level.sticky += 1;
    }

    /// `<`, which may open type arguments.
    pub(crate) fn angle(&mut self) {
        self.level.sticky += 1;
        self.level.angles += 1;
    }

    /// `?`, after which an arrow function may or may not have a return type.
    pub(crate) fn question(&mut self) {
        self.level.chain += 1;
        self.level.questions += 1;
    }

    /// Whether a `<` may be open.
    pub(crate) fn has_angle(&self) -> bool {
        self.level.angles > 0
    }

    /// An opening bracket; a `group` may turn out to be the head of an arrow function.
    pub(crate) fn open(&mut self, bracket: Bracket, group: bool) {
        self.frames.push(Frame { bracket, group, level: self.level });
        self.outer = self.outer.plus(self.level);
        self.groups += u32::from(group);
        self.level = Level::default();
    }

    /// A closing bracket. Says which one it closes, if it can.
    pub(crate) fn close(&mut self, closer: u8) -> Option<Bracket> {
        let frame = *self.frames.last()?;
        let fits = match frame.bracket {
            Bracket::Paren | Bracket::Head => closer == b')',
            Bracket::Square => closer == b']',
            Bracket::Brace | Bracket::Hole => closer == b'}',
        };
        if !fits {
            return None;
        }
        self.frames.pop();
        self.outer = self.outer.minus(frame.level);
        self.groups -= u32::from(frame.group);
        self.level = frame.level;
        // `a()()()` and `a[0][0]` nest to the left although their brackets close.
        self.level.chain += 1;
        Some(frame.bracket)
    }

    /// A comma.
    pub(crate) fn end_item(&mut self) {
        self.level.chain = 0;
        self.level.questions = 0;
    }

    /// The end of a statement.
    pub(crate) fn end_statement(&mut self) {
        self.level = Level::default();
    }

    /// Whether both stand inside the same brackets.
    pub(crate) fn same_brackets(&self, other: &Nesting) -> bool {
        self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(|(a, b)| a.bracket == b.bracket)
    }

    /// The greater of both in every respect; both stand inside the same brackets.
    pub(crate) fn merge(&mut self, other: &Nesting) {
        let mut outer = Level::default();
        self.groups = 0;
        for (frame, theirs) in self.frames.iter_mut().zip(&other.frames) {
            frame.group |= theirs.group;
            frame.level = frame.level.max(theirs.level);
            outer = outer.plus(frame.level);
            self.groups += u32::from(frame.group);
        }
        self.outer = outer;
        self.level = self.level.max(other.level);
        self.remember(other);
    }

    /// Keeps what a reading that came to nothing has reached: the parser may have gone as far.
    pub(crate) fn remember(&mut self, other: &Nesting) {
        self.deepest = self.deepest.max(other.deepest);
        self.effort = self.effort.max(other.effort);
    }

    /// From here on every token adds one level and nothing is taken back: `depth` of both readings and no brackets.
    pub(crate) fn lose(&mut self, other: Option<&Nesting>) {
        let depth = self.depth().max(other.map_or(0, Nesting::depth));
        if let Some(other) = other {
            self.remember(other);
        }
        self.frames.clear();
        self.groups = 0;
        self.outer = Level::default();
        self.level = Level { sticky: depth, ..Level::default() };
    }
}
