use isolith_core::{Engine, EngineError};
use isolith_quickjs::{Options, QuickJs};
use std::sync::Arc;

/// Every engine the suites are run on.
pub fn engines() -> Result<Vec<Arc<dyn Engine>>, EngineError> {
    Ok(vec![Arc::new(QuickJs::new(Options::default())?)])
}
