/// What a program is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// Whatever it turns out to be: most programs are both.
    #[default]
    Auto,
    /// JavaScript, sloppy unless it says otherwise.
    JavaScript,
    /// TypeScript without JSX and decorators.
    TypeScript,
}

/// How the parser reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    JavaScript,
    TypeScript,
}

impl Language {
    /// The flavours to try, in order.
    ///
    /// JavaScript goes first where both would read the same text the same way: its early errors are checked in full,
    /// and nothing has to be stripped. Only `f<T>(x)` means one thing in TypeScript and another in JavaScript, and
    /// whoever writes it means a call.
    pub(crate) fn flavours(self, generic_call: bool) -> &'static [Flavour] {
        match self {
            Language::Auto if generic_call => &[Flavour::TypeScript, Flavour::JavaScript],
            Language::Auto => &[Flavour::JavaScript, Flavour::TypeScript],
            Language::JavaScript => &[Flavour::JavaScript],
            Language::TypeScript => &[Flavour::TypeScript],
        }
    }
}
