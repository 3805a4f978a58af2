/// How deep a program may nest.
///
/// Parsing, checking, stripping and printing are recursive, and a stack overflow would end the whole process. People
/// and models stay below a few dozen levels; generated code with a long `a + b + c + …` reaches hundreds.
pub(crate) const NESTING_MAX: u32 = 5_000;

/// How deep a program may nest if the parser of TypeScript is as lenient as it can be; see [`Nesting::swallow`].
pub(crate) const TYPED_NESTING_MAX: u32 = 50_000;

/// Effort a program of any size may cost, in attempts to parse one token.
const EFFORT_BASE: u64 = 400_000;

/// Effort a program may cost beyond that, for each of its bytes.
const EFFORT_PER_BYTE: u64 = 8;

/// Attempts and levels are added up in these parts of one attempt: a level costs far less than an attempt.
const PARTS: u64 = 32;

/// Past this factor, all are the same: far too many tries.
const FACTOR_MAX: u64 = 1 << 40;

/// How deep the syntax tree can be at one place, as far as the tokens before it tell: never less than it is.
///
/// Every level of recursion takes a token: a bracket, an operator, a keyword. So the depth at a place is at most the
/// number of such tokens that may still be open there, which is what a [`Level`] counts inside each bracket.
#[derive(Clone)]
pub(crate) struct Nesting {
    frames: Vec<Frame>,
    level: Level,
    /// Of all frames that are open, without `level`.
    outer: Total,
    /// How often a parser of TypeScript may read what is inside the innermost bracket.
    factor: u64,
    deepest: u32,
    /// Levels that were taken back but may still be open to a lenient parser.
    ghosts: u32,
    typed_deepest: u32,
    effort: u64,
    typed_effort: u64,
    effort_max: u64,
    /// Where TypeScript became too costly.
    typed_too_costly: Option<usize>,
    /// No frame below this one has changed since [`Nesting::branch`].
    shared: usize,
}

/// Why a program is not parsed at all, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It nests too deep.
    Deep(usize),
    /// It makes a parser try too often.
    Costly(usize),
    /// It has a decorator.
    Decorated(usize),
}

/// What frames add up to.
#[derive(Clone, Copy, Default)]
struct Total {
    depth: u32,
    guesses: Guesses,
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
    level: Level,
    /// It may turn out to be the head of an arrow function.
    group: bool,
    /// [`Nesting::factor`] outside of it.
    factor: u64,
}

/// What may be open between a bracket and the present place.
#[derive(Clone, Copy, Default)]
struct Level {
    /// What a comma ends: operators, member accesses, calls.
    chain: u32,
    /// What only the end of a statement ends: `if (a) if (b)`, labels, `<`.
    sticky: u32,
    /// `<` without its `>`.
    angles: u32,
    /// `infer T extends`.
    infers: u32,
    guesses: Guesses,
    /// What is here may be a type.
    typed: bool,
    /// An equals sign here does not end the type: `type A = B`.
    alias: bool,
}

/// Where a parser finds out by trying what it reads, and what is inside is read again for each try.
///
/// Where a wrong guess is remembered, guesses inside guesses make the effort quadratic. Where nothing is remembered,
/// every level multiplies it: that is [`Nesting::factor`].
#[derive(Clone, Copy, Default)]
struct Guesses {
    /// `(` may be a group or the head of an arrow function.
    groups: u32,
    /// In TypeScript, `<` may be a comparison or open type arguments.
    angles: u32,
    /// In TypeScript, an arrow function behind `?` may or may not have a return type, until the next comma.
    questions: u32,
}

impl Guesses {
    fn plus(self, other: Guesses) -> Guesses {
        Guesses {
            groups: self.groups + other.groups,
            angles: self.angles + other.angles,
            questions: self.questions + other.questions,
        }
    }

    fn minus(self, other: Guesses) -> Guesses {
        Guesses {
            groups: self.groups - other.groups,
            angles: self.angles - other.angles,
            questions: self.questions - other.questions,
        }
    }

    fn max(self, other: Guesses) -> Guesses {
        Guesses {
            groups: self.groups.max(other.groups),
            angles: self.angles.max(other.angles),
            questions: self.questions.max(other.questions),
        }
    }
}

impl Level {
    fn max(self, other: Level) -> Level {
        Level {
            chain: self.chain.max(other.chain),
            sticky: self.sticky.max(other.sticky),
            angles: self.angles.max(other.angles),
            infers: self.infers.max(other.infers),
            guesses: self.guesses.max(other.guesses),
            typed: self.typed | other.typed,
            alias: self.alias | other.alias,
        }
    }
}

impl Frame {
    fn depth(&self) -> u32 {
        self.level.chain + self.level.sticky + 1
    }

    fn guesses(&self) -> Guesses {
        self.level.guesses.plus(Guesses { groups: u32::from(self.group), ..Guesses::default() })
    }
}

impl Total {
    fn add(&mut self, frame: &Frame) {
        self.depth += frame.depth();
        self.guesses = self.guesses.plus(frame.guesses());
    }

    fn remove(&mut self, frame: &Frame) {
        self.depth -= frame.depth();
        self.guesses = self.guesses.minus(frame.guesses());
    }
}

impl Nesting {
    pub(crate) fn new(source_bytes: usize) -> Self {
        Nesting {
            frames: Vec::new(),
            level: Level::default(),
            outer: Total::default(),
            factor: 1,
            deepest: 0,
            ghosts: 0,
            typed_deepest: 0,
            effort: 0,
            typed_effort: 0,
            effort_max: (EFFORT_BASE + EFFORT_PER_BYTE * source_bytes as u64) * PARTS,
            typed_too_costly: None,
            shared: 0,
        }
    }

    /// The deepest place so far.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The deepest place so far, to the most lenient parser of TypeScript.
    pub(crate) fn typed_deepest(&self) -> u32 {
        self.typed_deepest
    }

    /// Where a parser of TypeScript would spend too much.
    pub(crate) fn typed_too_costly(&self) -> Option<usize> {
        self.typed_too_costly
    }

    /// The innermost open bracket.
    pub(crate) fn bracket(&self) -> Option<Bracket> {
        self.frames.last().map(|frame| frame.bracket)
    }

    /// Counts one token of any kind at `offset`; fails when the program is too deep or too costly there.
    pub(crate) fn token(&mut self, offset: usize) -> Result<(), Refusal> {
        self.reach(0, offset)?;
        let guesses = self.outer.guesses.plus(self.level.guesses);
        let effort = u64::from(guesses.groups) * PARTS + u64::from(self.depth());
        let tries = u64::from(guesses.angles + guesses.questions) + self.level_factor();
        // The limit is on the sum, because a long program may repeat a shallow nest many times.
        self.effort += effort;
        self.typed_effort += effort + tries * PARTS;
        if self.typed_effort > self.effort_max {
            self.refuse_typed(offset);
        }
        if self.effort > self.effort_max { Err(Refusal::Costly(offset)) } else { Ok(()) }
    }

    /// Makes sure that `more` levels can be had at this place.
    pub(crate) fn reach(&mut self, more: u32, offset: usize) -> Result<(), Refusal> {
        let depth = self.depth().saturating_add(more);
        self.deepest = self.deepest.max(depth);
        self.typed_deepest = self.typed_deepest.max(depth.saturating_add(self.ghosts));
        if self.typed_deepest > TYPED_NESTING_MAX {
            self.refuse_typed(offset);
        }
        if depth > NESTING_MAX { Err(Refusal::Deep(offset)) } else { Ok(()) }
    }

    /// [`Nesting::factor`] at this place.
    fn level_factor(&self) -> u64 {
        self.factor.saturating_mul(1 << self.level.infers.min(32)).min(FACTOR_MAX)
    }

    fn depth(&self) -> u32 {
        self.outer.depth + self.level.chain + self.level.sticky
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
    pub(crate) fn open_angle(&mut self) {
        self.level.sticky += 1;
        self.level.angles += 1;
        self.level.guesses.angles += 1;
        self.level.typed = true;
    }

    /// A type may begin here.
    pub(crate) fn begin_type(&mut self) {
        self.level.typed = true;
    }

    /// The word `type`, which may begin an alias.
    pub(crate) fn begin_alias(&mut self) {
        self.level.typed = true;
        self.level.alias = true;
    }

    /// `=`, behind which is no type, unless of an alias or as the default of a type parameter.
    pub(crate) fn assign(&mut self) {
        self.level.chain += 1;
        self.level.typed &= self.level.alias || self.level.angles > 0;
    }

    /// Whether what is here may be a type.
    pub(crate) fn is_typed(&self) -> bool {
        self.level.typed
    }

    /// `>`, which may close them. Says whether any were open.
    pub(crate) fn close_angle(&mut self) -> bool {
        self.level.chain += 1;
        self.level.angles = self.level.angles.saturating_sub(1);
        self.level.guesses.angles > 0
    }

    /// `?`, after which an arrow function may or may not have a return type.
    pub(crate) fn question(&mut self) {
        self.level.chain += 1;
        self.level.guesses.questions += 1;
    }

    /// `infer T extends`, which may be the constraint of `T` or a condition.
    pub(crate) fn infer(&mut self) {
        self.level.infers += 1;
    }

    /// An opening bracket. A `group` may turn out to be the head of an arrow function; with a `pattern` in it, it may be
    /// a type as well.
    pub(crate) fn open(&mut self, bracket: Bracket, group: bool, pattern: bool) {
        let frame = Frame { bracket, level: self.level, group, factor: self.factor };
        // What is behind several `<` is read as part of the arguments of each, and then as an operand; behind `new`, it
        // was measured to be read almost once more. A pattern is read to see what it is, and then as that.
        let tries = u64::from(2 * self.level.angles + 1) * if group && pattern { 2 } else { 1 };
        self.factor = self.level_factor().saturating_mul(tries).min(FACTOR_MAX);
        self.outer.add(&frame);
        self.frames.push(frame);
        // A bracket in a type holds types.
        self.level = Level { typed: self.level.typed, ..Level::default() };
    }

    /// The parser of TypeScript takes any one token for the arrow of a function type: in `let x: () ; T` it is the
    /// semicolon. If that token is a closing bracket, the bracket stays open for it, with all that is in it.
    pub(crate) fn swallow(&mut self) {
        self.ghosts = self.ghosts.saturating_add(self.level.chain + self.level.sticky + 1);
    }

    /// To such a parser, as many more levels may be open from here on.
    pub(crate) fn haunt(&mut self, levels: u32, offset: usize) -> Result<(), Refusal> {
        self.ghosts = self.ghosts.saturating_add(levels);
        self.reach(0, offset)
    }

    /// A closing bracket. Says which one it closes, if it can, and whether that one was a group.
    pub(crate) fn close(&mut self, closer: u8) -> Option<(Bracket, bool)> {
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
        self.shared = self.shared.min(self.frames.len());
        self.outer.remove(&frame);
        self.factor = frame.factor;
        self.level = frame.level;
        // `a()()()` and `a[0][0]` nest to the left although their brackets close.
        self.level.chain += 1;
        Some((frame.bracket, frame.group))
    }

    /// A comma.
    pub(crate) fn end_item(&mut self) {
        self.level.chain = 0;
        self.level.guesses.questions = 0;
    }

    /// The end of a statement.
    pub(crate) fn end_statement(&mut self) {
        self.level = Level::default();
    }

    /// A second reading from here on.
    pub(crate) fn branch(&mut self) -> Nesting {
        self.shared = self.frames.len();
        self.clone()
    }

    /// How much a second reading costs.
    pub(crate) fn branch_cost(&self) -> usize {
        self.frames.len() + 1
    }

    /// Whether two readings from one [`Nesting::branch`] stand inside the same brackets.
    pub(crate) fn same_brackets(&self, other: &Nesting) -> bool {
        let shared = self.shared.min(other.shared);
        self.frames.len() == other.frames.len()
            && self.frames[shared..].iter().zip(&other.frames[shared..]).all(|(a, b)| a.bracket == b.bracket)
    }

    /// The greater of both in every respect; both stand inside the same brackets.
    pub(crate) fn merge(&mut self, other: &Nesting) {
        let shared = self.shared.min(other.shared);
        for (frame, theirs) in self.frames[shared..].iter_mut().zip(&other.frames[shared..]) {
            self.outer.remove(frame);
            frame.level = frame.level.max(theirs.level);
            frame.group |= theirs.group;
            frame.factor = frame.factor.max(theirs.factor);
            self.outer.add(frame);
        }
        self.level = self.level.max(other.level);
        self.factor = self.factor.max(other.factor);
        self.remember(other);
    }

    /// Keeps what a reading that came to nothing has reached: the parser may have gone as far.
    pub(crate) fn remember(&mut self, other: &Nesting) {
        self.deepest = self.deepest.max(other.deepest);
        self.typed_deepest = self.typed_deepest.max(other.typed_deepest);
        self.ghosts = self.ghosts.max(other.ghosts);
        self.effort = self.effort.max(other.effort);
        self.typed_effort = self.typed_effort.max(other.typed_effort);
        self.typed_too_costly = self.typed_too_costly.or(other.typed_too_costly);
    }

    /// How costly the program gets as TypeScript cannot be said.
    pub(crate) fn refuse_typed(&mut self, offset: usize) {
        self.typed_too_costly = self.typed_too_costly.or(Some(offset));
    }

    /// From here on nothing is taken back.
    pub(crate) fn lose(&mut self, other: Option<&Nesting>) {
        let depth = self.depth().max(other.map_or(0, Nesting::depth));
        if let Some(other) = other {
            self.remember(other);
        }
        self.frames.clear();
        self.shared = 0;
        self.outer = Total::default();
        self.level = Level { sticky: depth, ..Level::default() };
    }
}
