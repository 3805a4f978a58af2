//! Programs on a Cloudflare Worker: the client's part of the protocol of TanStack's isolate driver.
//!
//! The Worker keeps nothing. Each round sends the whole program again with all results so far, and it runs from its start until it
//! misses one. So what a program does before a call it does again in every round, and a `catch` around a call can see the Worker's
//! own way of stopping it; that is how the Worker is.

mod code;
mod isolate;
mod post;
mod progress;
mod round;

use crate::{Address, AddressError};
use isolate::WorkerIsolate;
use isolith_core::{
    Ambient, Bindings, BoxFuture, Digest, Engine, EngineError, Form, Isolate, OutputSink, Program, Start, Suspended,
    Unsupported,
};
use progress::Progress;
use std::sync::Arc;

pub(crate) const NAME: &str = "worker";

/// The engine of a Worker. Cloning it is cheap and gives the same engine.
#[derive(Clone)]
pub struct Worker {
    address: Arc<Address>,
    its_limits: ItsLimits,
}

/// What holds for limits that nobody can enforce from here: memory, CPU time and the depth of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItsLimits {
    /// Those of the Worker do, whatever they are.
    Trusted,
    /// No program is started.
    NotTrusted,
}

impl Worker {
    /// The Worker at an address, and what it is sent as `Authorization`.
    pub fn new(url: &str, authorization: Option<&str>, its_limits: ItsLimits) -> Result<Worker, AddressError> {
        let address = Address::parse(url, authorization.map(str::to_owned))?;
        Ok(Worker { address: Arc::new(address), its_limits })
    }

    fn supports(&self, program: &Program, start: &Start) -> Result<(), Unsupported> {
        let not = |what: &str| Err(Unsupported { engine: NAME, what: what.to_owned() });
        start.check(self)?;
        if self.its_limits == ItsLimits::NotTrusted {
            return not("limits of memory, CPU time and stack, unless those of the Worker are trusted instead");
        }
        let tools = Bindings { tools: start.bindings.tools.clone(), ..Bindings::default() };
        if start.bindings != tools {
            return not("any grant but tools");
        }
        if start.ambient != Ambient::default() {
            return not("a clock or chance that is virtual or banned");
        }
        if program.form != Form::Body || !program.modules.is_empty() {
            return not("scripts and modules");
        }
        Ok(())
    }
}

impl Engine for Worker {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Nobody knows what a Worker is built from: its address has to do.
    fn image(&self) -> Digest {
        Digest::of(&format!("worker {}", self.address.shown()))
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            self.supports(program, &start)?;
            let code = code::of(program, &start);
            let progress = Progress::new(code, start.bindings.tools, start.limits);
            let isolate = WorkerIsolate::new(Arc::clone(&self.address), progress, start.sink);
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            if self.its_limits == ItsLimits::NotTrusted {
                let what = "limits of memory, CPU time and stack, unless those of the Worker are trusted instead";
                return Err(Unsupported { engine: NAME, what: what.into() }.into());
            }
            let progress = Progress::read(suspended, self.image())?;
            let isolate = WorkerIsolate::new(Arc::clone(&self.address), progress, sink);
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }
}
