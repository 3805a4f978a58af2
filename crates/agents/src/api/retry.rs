//! When a request is sent again that a server had no time for.

use std::time::Duration;

/// The first pause. Each is twice the one before.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// The longest that a server may ask for. Whoever wants more is not waited for.
const ASKED_MAX: Duration = Duration::from_secs(120);

/// Whether to send it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// After this pause.
    After(Duration),
    /// It would be the same again.
    Never,
    /// It was sent often enough.
    Exhausted,
    /// The server asks for more time than anyone waits.
    TooLate(Duration),
}

/// Decides by the status, what the server asks for, and how often it was sent again already.
pub(super) fn again(status: u16, retry_after: Option<&str>, sent: u32, retries: u32) -> Again {
    if !matches!(status, 408 | 429 | 500..=599) {
        return Again::Never;
    }
    if sent >= retries {
        return Again::Exhausted;
    }
    // A date would need a clock that both sides agree about; our own pause does instead.
    match retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs) {
        Some(asked) if asked > ASKED_MAX => Again::TooLate(asked),
        Some(asked) => Again::After(asked),
        None => Again::After((PAUSE * 2_u32.saturating_pow(sent.min(16))).min(PAUSE_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let after = |seconds| Again::After(Duration::from_secs(seconds));
        for (status, asked, sent, expected) in [
            (429, None, 0, after(1)),
            (529, None, 1, after(2)),
            (503, None, 4, after(16)),
            (500, None, 9, after(30)),
            (429, Some("7"), 0, after(7)),
            (429, Some("Wed, 21 Oct 2026 07:28:00 GMT"), 1, after(2)),
            (429, Some("-1"), 0, after(1)),
            (429, Some("121"), 0, Again::TooLate(Duration::from_secs(121))),
            (503, None, 10, Again::Exhausted),
            (400, None, 0, Again::Never),
            (401, Some("1"), 0, Again::Never),
            (302, None, 0, Again::Never),
        ] {
            assert_eq!(again(status, asked, sent, 10), expected, "{status} {asked:?} {sent}");
        }
    }
}
