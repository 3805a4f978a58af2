//! The trace that a request belongs to, as W3C's Trace Context writes it. What is not written so is as good as not there.

use axum::http::HeaderMap;
use isolith_runner::Lineage;
use std::sync::Arc;
use tracing::Span;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// What is longer is left out: it says nothing that we need.
const STATE_CHARS_MAX: usize = 512;

/// Whose child a run's span is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `traceparent`, well formed.
    pub parent: String,
    /// `tracestate`, if there is one.
    pub state: Option<String>,
}

/// Puts a span into a trace. Only whoever exports spans can.
pub type Adopt = Arc<dyn Fn(&Trace, &Span) + Send + Sync>;

impl Trace {
    /// Nothing when there is no parent, or it is malformed.
    pub(crate) fn of(parent: Option<&str>, state: Option<&str>) -> Option<Trace> {
        let parent = parent.filter(|parent| is_parent(parent))?.to_owned();
        let fits = |state: &&str| state.len() <= STATE_CHARS_MAX && state.bytes().all(|b| (b' '..=b'~').contains(&b));
        Some(Trace { parent, state: state.filter(fits).map(str::to_owned) })
    }

    pub(crate) fn in_headers(headers: &HeaderMap) -> Option<Trace> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // Two parents are none: nobody could tell which.
        let one = headers.get_all(PARENT).iter().count() == 1;
        Trace::of(text(PARENT).filter(|_| one), text(STATE))
    }

    pub(crate) fn lineage(self, adopt: &Adopt) -> Lineage {
        let adopt = Arc::clone(adopt);
        Lineage::new(move |span| adopt(&self, span))
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, and neither id is nothing. Later versions may say more behind that.
fn is_parent(text: &str) -> bool {
    let hex = |part: &str, length| part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let id = |part: &str, length| hex(part, length) && part.bytes().any(|b| b != b'0');
    let mut parts = text.splitn(5, '-');
    let mut next = || parts.next().unwrap_or_default();
    let (version, trace, span, flags) = (next(), next(), next(), next());
    let more = parts.next();
    let known = hex(version, 2) && version != "ff" && (version != "00" || more.is_none());
    known && id(trace, 32) && id(span, 16) && hex(flags, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

    #[test]
    fn only_what_is_well_formed_is_a_parent() {
        for good in [GOOD.to_owned(), format!("{}-more", GOOD.replacen("00-", "01-", 1))] {
            assert!(is_parent(&good), "{good}");
        }
        let longer = format!("{GOOD}-more");
        for bad in [
            "",
            "00",
            &GOOD.to_uppercase(),
            &GOOD.replacen("00-", "ff-", 1),
            &longer,
            &GOOD[..GOOD.len() - 1],
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319g-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-0ä",
        ] {
            assert!(!is_parent(bad), "{bad}");
        }
    }

    #[test]
    fn a_state_that_does_not_fit_is_left_out() {
        let state = |state: &str| Trace::of(Some(GOOD), Some(state)).unwrap().state;
        assert_eq!(state("a=1,b=2").as_deref(), Some("a=1,b=2"));
        let long = "a".repeat(600);
        assert_eq!(state(&long), None);
        assert_eq!(state("a=\n"), None);
        assert_eq!(Trace::of(None, Some("a=1")), None);
    }
}
