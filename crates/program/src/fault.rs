use crate::nesting::NESTING_MAX;

/// What is wrong with a program, and where in its text: a [`SourceError`](crate::SourceError) in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Bytes from the beginning of the text.
    pub(crate) offset: usize,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The bracket that has no partner, for which there is a hint as soon as lines are known.
    pub(crate) unclosed: Option<usize>,
    /// How far the text was understood.
    pub(crate) reached: Reached,
}

/// How far a text was understood before it was found to be wrong: of two readings, the one that got further is more
/// likely meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// It was not parsed at all.
    Nothing,
    /// It cannot be parsed.
    Tokens,
    /// It can be parsed.
    Syntax,
}

/// The stable codes. `docs/errors/<code>.md` explains each.
pub(crate) mod code {
    /// The text is not a program.
    pub(crate) const SYNTAX: &str = "syntax";
    /// It nests too deep, or would cost too much to parse.
    pub(crate) const NESTING: &str = "syntax.nesting";
    /// It contains JSX.
    pub(crate) const JSX: &str = "syntax.jsx";
    /// It contains a decorator.
    pub(crate) const DECORATOR: &str = "syntax.decorator";
    /// It is a Markdown text with no block, several, or one in another language.
    pub(crate) const FENCE: &str = "syntax.fence";
    /// It imports a module that was not granted.
    pub(crate) const IMPORT: &str = "import.unknown";
    /// It imports a path above the workspace.
    pub(crate) const IMPORT_OUTSIDE: &str = "import.outside";
    /// It imports a file that is not there.
    pub(crate) const IMPORT_MISSING: &str = "import.missing";
    /// It imports a file that cannot be read.
    pub(crate) const IMPORT_UNREADABLE: &str = "import.unreadable";
    /// It imports a name that the module does not export.
    pub(crate) const IMPORT_NAME: &str = "import.name";
    /// It imports itself.
    pub(crate) const IMPORT_PROGRAM: &str = "import.program";
    /// It imports too much.
    pub(crate) const IMPORT_LIMIT: &str = "import.limit";
    /// Its default export has no value to give.
    pub(crate) const EXPORT: &str = "export.default";
    /// The parser itself failed.
    pub(crate) const INTERNAL: &str = "internal";
}

impl Fault {
    pub(crate) fn new(offset: usize, code: &'static str, message: impl Into<String>) -> Self {
        Fault { offset, code, message: message.into(), hint: None, unclosed: None, reached: Reached::Tokens }
    }

    pub(crate) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Fault::new(offset, code::SYNTAX, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same fault of a text that was understood so far.
    pub(crate) fn reaching(mut self, reached: Reached) -> Self {
        self.reached = reached;
        self
    }

    /// The same fault of a text that this one is a part of, from `start` on.
    pub(crate) fn shifted(mut self, start: usize) -> Self {
        self.offset += start;
        self.unclosed = self.unclosed.map(|offset| offset + start);
        self
    }

    pub(crate) fn too_deep(offset: usize) -> Self {
        Fault::new(offset, code::NESTING, format!("the program nests more than {NESTING_MAX} levels deep here"))
            .hint("split long chains of operators and deep nests into several statements")
    }

    pub(crate) fn too_costly(offset: usize) -> Self {
        Fault::new(offset, code::NESTING, "nested parentheses and angle brackets make the program too costly to parse")
            .hint("split the expression into several statements")
            .reaching(Reached::Nothing)
    }

    pub(crate) fn decorator(offset: usize) -> Self {
        Fault::new(offset, code::DECORATOR, "decorators are not supported")
            .hint("call the decorating function yourself: `const Wrapped = decorate(class { … })`")
    }

    /// The parser panicked or had no room to run: our fault, and the end of this program only.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Fault::new(0, code::INTERNAL, message)
    }
}
