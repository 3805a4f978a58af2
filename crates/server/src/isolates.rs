//! Isolates for another isolith: it decides, performs and writes down what they ask; here they only compute.
//!
//! So there is no gate on this side, and nothing that an isolate says acts on this machine.

mod life;
mod line;
mod seal;

pub(crate) use line::Line;
pub(crate) use seal::StateSeal;

use crate::app::App;
use crate::caller::Caller;
use crate::runs::lock;
use isolith_core::wire::{Malformed, Opening, Request, event};
use isolith_core::{EngineError, Program, Turn};
use life::Life;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Isolates of one connection at one time, those that wait for a place included.
const ISOLATES_MAX: usize = 256;
/// What all of those that wait for a place may bring. With a place they count as what they may use.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// The isolates of one connection.
pub(crate) struct Isolates {
    app: Arc<App>,
    caller: Arc<Caller>,
    line: Line,
    all: All,
    /// Numbers go upwards, so that none is ever meant for another isolate than its own.
    last: u64,
    waiting_bytes: Arc<AtomicUsize>,
}

type All = Arc<Mutex<HashMap<u64, Handle>>>;

/// One of them, from outside.
struct Handle {
    orders: mpsc::Sender<Order>,
    /// A request is under way.
    busy: Arc<AtomicBool>,
    task: AbortHandle,
}

/// What is asked of an isolate that is there.
enum Order {
    Advance(Turn),
    Suspend,
}

/// How an isolate comes to be.
enum Begin {
    Start(Program, Box<Opening>),
    Resume(Vec<u8>),
}

/// Bytes that wait, for as long as this lives.
struct Waiting(Arc<AtomicUsize>, usize);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl Isolates {
    pub(crate) fn new(app: Arc<App>, caller: Arc<Caller>, line: Line) -> Isolates {
        line.tell(event::hello(app.runs.runner.engine().image()));
        Isolates { app, caller, line, all: All::default(), last: 0, waiting_bytes: Arc::default() }
    }

    // THREAT[T-REMOTE-004]: whoever is let in may still send anything, in any order. What does not fit ends the connection, and
    // what is too much is refused before it is kept.
    /// Takes one message. What may take long is done aside.
    pub(crate) fn take(&mut self, message: &[u8]) -> Result<(), Malformed> {
        match Request::read(message)? {
            Request::Start { isolate, program, opening } => {
                self.begin(isolate, Begin::Start(program, opening), message.len())
            }
            Request::Resume { isolate, state } => self.begin(isolate, Begin::Resume(state), message.len()),
            Request::Advance { isolate, turn } => self.order(isolate, Order::Advance(turn)),
            Request::Suspend { isolate } => self.order(isolate, Order::Suspend),
            Request::Drop { isolate } => {
                if let Some(handle) = lock(&self.all).remove(&isolate) {
                    handle.task.abort();
                }
                Ok(())
            }
        }
    }

    fn begin(&mut self, isolate: u64, begin: Begin, bytes: usize) -> Result<(), Malformed> {
        if isolate <= self.last {
            return Err(Malformed);
        }
        self.last = isolate;
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let waiting = Waiting(Arc::clone(&self.waiting_bytes), bytes);
        let mut all = lock(&self.all);
        let full = all.len() >= ISOLATES_MAX || (before > 0 && before + bytes > WAITING_BYTES_MAX);
        if full || self.app.runs.leave.is_cancelled() {
            drop(all);
            self.line.tell(event::failed(isolate, &self.busy()));
            return Ok(());
        }
        let (orders, inbox) = mpsc::channel(1);
        let busy = Arc::new(AtomicBool::new(true));
        let life = Life {
            app: Arc::clone(&self.app),
            caller: Arc::clone(&self.caller),
            line: self.line.clone(),
            isolate,
            busy: Arc::clone(&busy),
        };
        let gone = Gone(Arc::clone(&self.all), isolate);
        let task = self.app.runs.tasks.spawn(async move {
            let _gone = gone;
            life.run(begin, waiting, inbox).await;
        });
        all.insert(isolate, Handle { orders, busy, task: task.abort_handle() });
        Ok(())
    }

    fn order(&self, isolate: u64, order: Order) -> Result<(), Malformed> {
        if let Some(handle) = lock(&self.all).get(&isolate) {
            if handle.busy.swap(true, Ordering::AcqRel) {
                return Err(Malformed);
            }
            if handle.orders.try_send(order).is_ok() {
                return Ok(());
            }
        }
        // It was idle for too long, or ended.
        self.line.tell(event::failed(isolate, &EngineError::Ended));
        Ok(())
    }

    fn busy(&self) -> EngineError {
        let (live, waiting) = self.app.runs.queue.load();
        EngineError::Busy { live, waiting }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.all).is_empty()
    }
}

impl Drop for Isolates {
    /// Nobody is left who could perform what they ask.
    fn drop(&mut self) {
        lock(&self.all).drain().for_each(|(_, handle)| handle.task.abort());
    }
}

/// Takes an isolate off the list when its task is over.
struct Gone(All, u64);

impl Drop for Gone {
    fn drop(&mut self) {
        lock(&self.0).remove(&self.1);
    }
}
