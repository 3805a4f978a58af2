//! How a worker says that a run ended.

/// The kinds, by the numbers that the guest half uses as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// A value.
    Value = 0,
    /// `undefined`.
    Undefined = 1,
    /// Something was thrown.
    Thrown = 2,
    /// It is no program.
    Syntax = 3,
    /// It waits for what nothing can settle.
    Stalled = 4,
    /// Its value is larger than it may be.
    ValueTooLarge = 5,
    /// Calls were too deep.
    Stack = 6,
    /// It was told to stop, and did.
    Interrupted = 7,
    /// It wanted more memory than it may have.
    Memory = 8,
    /// The engine gave up.
    Failed = 9,
}

impl EndKind {
    /// The kind of a number, if there is one.
    pub fn from_number(number: u8) -> Option<EndKind> {
        use EndKind::*;
        [Value, Undefined, Thrown, Syntax, Stalled, ValueTooLarge, Stack, Interrupted, Memory, Failed]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}
