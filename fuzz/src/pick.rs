//! Choices out of bytes. When the bytes run out the first choice is made, so every input is a whole case.

use arbitrary::Unstructured;

pub(crate) fn of<T: Clone>(bytes: &mut Unstructured<'_>, choices: &[T]) -> T {
    let last = choices.len().saturating_sub(1);
    choices[bytes.int_in_range(0..=last).unwrap_or_default()].clone()
}

/// Once in `n` times.
pub(crate) fn rarely(bytes: &mut Unstructured<'_>, n: u8) -> bool {
    bytes.int_in_range(0..=n - 1).unwrap_or_default() == 1
}

pub(crate) fn count(bytes: &mut Unstructured<'_>, most: usize) -> usize {
    bytes.int_in_range(0..=most).unwrap_or_default()
}
