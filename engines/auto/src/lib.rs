//! Two engines as one: every run begins on the first, and one that computes for long goes on in the second.
//!
//! The first starts in microseconds and the second computes faster, so neither suits every program. When a run has computed for a
//! while, the same program is started in the second engine beside it and told everything that the first was told, turn by turn.
//! Nothing is performed meanwhile: what it asks for is only held against what the first one asked for. If that is the same, and it has
//! written the same, it takes over; otherwise the first goes on, as if nothing had been tried.
//!
//! So whatever the engines do differently can keep a run from changing over, and never makes it do something else: once the second
//! has taken over, everything the run ever asked for and wrote is what the second would have asked for and written by itself.

mod computing;
mod faster;
mod history;
mod isolate;
mod kept;
mod shadow;
mod spare;
mod trial;

use crate::faster::Faster;
use crate::isolate::AutoIsolate;
use crate::spare::Spare;
use isolith_core::{
    BoxFuture, Builtin, Digest, Engine, EngineError, Isolate, OutputSink, Program, Start, Suspended, Unsupported,
};
use std::sync::Arc;
use std::time::Duration;

pub use crate::faster::Make;

/// What a run may compute before the faster engine is tried, where nobody says otherwise.
pub const DEFAULT_AFTER: Duration = Duration::from_millis(50);

/// The engine `auto`. Cloning it is cheap and gives the same engine.
#[derive(Clone)]
pub struct Auto {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    first: Arc<dyn Engine>,
    pub(crate) faster: Arc<Faster>,
    pub(crate) after: Duration,
    pub(crate) spare: Spare,
}

impl Auto {
    /// Runs begin on `first`. `make` gives the faster engine when it is first wanted, or says why there is none.
    pub fn new(first: Arc<dyn Engine>, make: Make, after: Duration) -> Auto {
        let faster = Arc::new(Faster::new(make));
        Auto { shared: Arc::new(Shared { first, faster, after, spare: Spare::default() }) }
    }
}

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    /// That of the engine on which runs begin, and on which they can leave memory.
    fn image(&self) -> Digest {
        self.shared.first.image()
    }

    /// Those of the faster engine, which may turn out not to be there.
    fn builtins(&self) -> &'static [Builtin] {
        &Builtin::ALL
    }

    fn resumes(&self, engine: &str) -> bool {
        self.shared.first.resumes(engine)
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            // The faster engine may not be able to leave memory, so a run that may have to stays where it is.
            if start.must_suspend {
                return self.shared.first.start(program, start).await;
            }
            // Only the faster one has these, so there is nothing to try.
            if let Some(builtin) = start.bindings.builtins.first() {
                let lacking = |why: String| Unsupported { engine: "auto", what: format!("`{builtin}` here: {why}") };
                let engine = Arc::clone(&self.shared.faster).engine().await.map_err(lacking)?;
                return engine.start(program, start).await;
            }
            let isolate = AutoIsolate::start(Arc::clone(&self.shared), &self.shared.first, program, start).await?;
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }

    /// What was told to a run before it left memory is not known any more: it stays on the engine that it left.
    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        self.shared.first.resume(suspended, sink)
    }
}
