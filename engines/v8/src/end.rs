//! How a worker says that a run ended.

/// The kinds, by the numbers that the guest half uses as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndKind {
    Value = 0,
    Undefined = 1,
    Thrown = 2,
    Syntax = 3,
    Stalled = 4,
    ValueTooLarge = 5,
    Stack = 6,
    /// It was told to stop, and did.
    Interrupted = 7,
    Memory = 8,
    /// V8 gave up.
    Failed = 9,
}

impl EndKind {
    pub(crate) fn from_number(number: u8) -> Option<EndKind> {
        use EndKind::*;
        [Value, Undefined, Thrown, Syntax, Stalled, ValueTooLarge, Stack, Interrupted, Memory, Failed]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}
