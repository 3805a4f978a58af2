//! Where a run comes from, for whoever draws traces: its span belongs under one that was begun elsewhere.

use std::sync::Arc;
use tracing::Span;

/// Puts a run's span under another. The runner knows spans only; whoever exports them knows how they hang together.
#[derive(Clone)]
pub struct Lineage(Arc<dyn Fn(&Span) + Send + Sync>);

impl Lineage {
    /// One that is told of the span before anything happens in it.
    pub fn new(adopt: impl Fn(&Span) + Send + Sync + 'static) -> Lineage {
        Lineage(Arc::new(adopt))
    }

    pub(crate) fn adopt(lineage: Option<&Lineage>, span: Span) -> Span {
        if let Some(Lineage(adopt)) = lineage {
            adopt(&span);
        }
        span
    }
}

impl std::fmt::Debug for Lineage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lineage")
    }
}
