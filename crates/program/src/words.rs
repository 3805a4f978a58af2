//! What a word means to the scan: which keywords nest, which begin a statement, which carry one on.

/// What is known of a word by its spelling alone.
///
/// Words that are keywords only in some places count as keywords everywhere: taking a name for a keyword makes the
/// scan count too much, never too little.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Word(u16);

impl Word {
    const KEYWORD: u16 = 1;
    const STICKY: u16 = 1 << 1;
    const CONTROL: u16 = 1 << 2;
    const BEFORE_REGEX: u16 = 1 << 3;
    const VALUE: u16 = 1 << 4;
    const STARTS: u16 = 1 << 5;
    const CONTINUES: u16 = 1 << 6;
    const LEADS: u16 = 1 << 7;
    const TYPES: u16 = 1 << 8;
    const NO_OPERAND: u16 = 1 << 9;

    pub(crate) fn of(text: &[u8]) -> Word {
        use Word as W;
        // Most words are names, and most names show it in their length or their first letter.
        if !(2..=10).contains(&text.len()) || !text[0].is_ascii_lowercase() {
            return Word(0);
        }
        let bits = match text {
            b"if" | b"for" => W::STICKY | W::CONTROL | W::STARTS | W::NO_OPERAND,
            b"while" => W::STICKY | W::CONTROL | W::CONTINUES,
            b"with" => W::STICKY | W::CONTROL | W::CONTINUES,
            b"do" => W::STICKY | W::BEFORE_REGEX | W::STARTS | W::LEADS | W::NO_OPERAND,
            b"else" => W::STICKY | W::BEFORE_REGEX | W::CONTINUES | W::LEADS,
            b"class" => W::STICKY | W::STARTS,
            b"extends" => W::STICKY | W::BEFORE_REGEX | W::CONTINUES | W::TYPES,
            b"implements" => W::STICKY | W::CONTINUES | W::TYPES,
            b"as" | b"satisfies" | b"is" => W::CONTINUES | W::TYPES,
            b"catch" | b"finally" | b"of" | b"from" | b"assert" => W::CONTINUES,
            b"in" | b"instanceof" => W::BEFORE_REGEX | W::CONTINUES,
            b"return" | b"throw" => W::BEFORE_REGEX | W::STARTS | W::NO_OPERAND,
            b"case" | b"typeof" | b"delete" | b"new" => W::BEFORE_REGEX,
            b"function" | b"import" => W::STARTS,
            b"var" | b"const" | b"try" | b"switch" | b"export" | b"break" | b"continue" | b"debugger" => {
                W::STARTS | W::NO_OPERAND
            }
            b"this" | b"super" | b"null" | b"true" | b"false" => W::VALUE,
            b"abstract" | b"accessor" | b"asserts" | b"async" | b"await" | b"declare" | b"default" | b"enum"
            | b"get" | b"global" | b"infer" | b"interface" | b"keyof" | b"let" | b"module" | b"namespace" | b"out"
            | b"override" | b"private" | b"protected" | b"public" | b"readonly" | b"set" | b"static" | b"type"
            | b"unique" | b"using" | b"void" | b"yield" => 0,
            _ => return Word(0),
        };
        Word(bits | W::KEYWORD)
    }

    /// A name with an escape in it, which a lenient parser may or may not take for any keyword.
    pub(crate) fn any() -> Word {
        Word(Word::KEYWORD | Word::STICKY | Word::CONTROL | Word::CONTINUES | Word::LEADS | Word::TYPES)
    }

    fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// A keyword somewhere in the language.
    pub(crate) fn is_keyword(self) -> bool {
        self.has(Word::KEYWORD)
    }

    /// Nests what follows, and a comma does not end that: `if (a) if (b)`, `class extends a, b`.
    pub(crate) fn is_sticky(self) -> bool {
        self.has(Word::STICKY)
    }

    /// The parentheses after it are the head of a statement.
    pub(crate) fn is_control(self) -> bool {
        self.has(Word::CONTROL)
    }

    /// A slash after it can only begin a regular expression.
    pub(crate) fn is_before_regex(self) -> bool {
        self.has(Word::BEFORE_REGEX)
    }

    /// A whole operand by itself: `this`, `null`.
    pub(crate) fn is_value(self) -> bool {
        self.has(Word::VALUE)
    }

    /// Reserved, and able to follow a closing brace only as the beginning of a new statement.
    pub(crate) fn starts_statement(self) -> bool {
        self.has(Word::STARTS)
    }

    /// Reserved, and able to follow an operator nowhere.
    pub(crate) fn is_no_operand(self) -> bool {
        self.has(Word::NO_OPERAND)
    }

    /// May carry on what came before, even after a semicolon, a brace or a line end.
    pub(crate) fn continues(self) -> bool {
        self.has(Word::CONTINUES)
    }

    /// A type may follow it.
    pub(crate) fn begins_type(self) -> bool {
        self.has(Word::TYPES)
    }

    /// A statement follows it directly.
    pub(crate) fn leads(self) -> bool {
        self.has(Word::LEADS)
    }
}
