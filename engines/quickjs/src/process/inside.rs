//! QuickJS as what lives inside a worker.
//!
//! The zygote loads the image and makes an isolate in which nothing has run. Each copy has that isolate as it is, for one program:
//! nothing is mapped any more when there are no descriptors left to map from.

use super::dialect::{Kept, OVERHEAD_BYTES, STATE_TOO_LARGE, STATE_WHOLE, data_bytes};
use super::relay::Relay;
use crate::image::{Entry, Image, Live, Silence};
use crate::meter::Meter;
use crate::pages::{self, PAGE};
use crate::protocol::{self, Status};
use crate::suspend::State;
use isolith_core::{
    Ambient, Bindings, CallId, EngineError, ErrorKind, Form, Limits, Program, Seed, Start, SuspendedError, Timestamp,
};
use isolith_jail::frame::{self, Reader, Said, Told};
use isolith_jail::worker::{self, Inside, Line, leave};
use isolith_jail::{EndKind, WASM_CALLS};
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use wasmtime::{Engine, Trap};

/// Isolates of a zygote: the one for a program, one to warm up with, and one that is looked at and let go.
const ISOLATES: u32 = 3;
/// Between two looks at a guest that was asked to stop.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Exit codes of a worker, for those who look.
const GONE: i32 = 3;
const BROKEN: i32 = 4;

/// QuickJS with its image.
pub const QUICKJS_INSIDE: Inside = Inside { set_up, start_threads: || (), stop, run, calls: WASM_CALLS };

/// What a zygote has ready for its copies.
struct Ready {
    image: Image,
    live: Live,
    spare: Live,
    /// Pages that a program touches, whatever it is.
    touched: Vec<u32>,
}

thread_local! {
    static READY: RefCell<Option<Ready>> = const { RefCell::new(None) };
}

/// How a copy's own isolate is stopped, from another thread.
static STOP: OnceLock<(Engine, Arc<Meter>)> = OnceLock::new();

fn set_up(_: &serde_json::Value, alone: fn(), boot: fn()) -> Result<Infallible, String> {
    let ready = prepare().map_err(|error| chain(&*error))?;
    READY.with_borrow_mut(|held| *held = Some(ready));
    alone();
    boot();
    Err("nobody asks for workers any more".into())
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn prepare() -> Result<Ready, Box<dyn std::error::Error + Send + Sync>> {
    let image = Image::load(ISOLATES)?;
    image.base()?;
    // No clock of its own: the supervisor measures, and says when it is enough.
    let meter = || Arc::new(Meter::new(Duration::MAX, Duration::ZERO));
    let isolate = |meter| image.instantiate(Limits::default(), meter, Arc::new(Silence));
    let own = meter();
    let live = isolate(Arc::clone(&own))?;
    let spare = isolate(meter())?;
    STOP.set((image.engine().clone(), own)).map_err(|_| "a zygote is set up once")?;
    let mut looked_at = isolate(meter())?;
    trivial(&image, &mut looked_at)?;
    let touched = pages::maybe_written(looked_at.memory.data(&looked_at.store));
    Ok(Ready { image, live, spare, touched })
}

/// A program that does nothing, in an isolate that is not used again.
fn trivial(image: &Image, live: &mut Live) -> wasmtime::Result<()> {
    let program = Program::new("main.js", "return 1", Form::Body);
    let start = Start {
        limits: Limits::default(),
        bindings: Bindings::default(),
        ambient: Ambient::default(),
        input: None,
        args: Vec::new(),
        seed: Seed([0; 32]),
        sink: Arc::new(Silence),
        must_suspend: false,
    };
    let message = protocol::start_message(&program, &start, Timestamp::default(), false);
    block_on(live.enter(image.exports(), &message, Entry::Start)).map(|_| ())
}

/// Nobody wakes this thread but the guest itself, which is ready to go on whenever it gives way.
fn block_on<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = work.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

/// On a thread of its own, which has nothing else to do: looks at the guest until it has stopped, and the process with it.
fn stop() {
    let Some((engine, meter)) = STOP.get() else { return };
    meter.set_wall_left(Duration::ZERO);
    loop {
        engine.increment_epoch();
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// In a copy: one program from its start to its end.
fn run(line: Line) {
    let Some(mut ready) = READY.take() else { leave(BROKEN) };
    ready.warm_up();
    let Ready { image, mut live, spare, .. } = ready;
    live.store.data_mut().relay = Some(Relay::new(line, 0));
    or_gone(line_of(&mut live).ready());
    Run { image: &image, live: &mut live }.serve();
    // To end a process is some work, which is done when nobody waits for the processor: the supervisor says when.
    let _ = line_of(&mut live).hear();
    // To let go of an isolate is to put it right for the next one, and there is none.
    std::mem::forget((image, live, spare));
}

impl Ready {
    /// Has the kernel give this process what it needs before somebody waits for it: its own copies of the pages that every program
    /// writes to, and of those that all the rest of it does.
    fn warm_up(&mut self) {
        if trivial(&self.image, &mut self.spare).is_err() {
            leave(BROKEN);
        }
        let memory = self.live.memory.data_mut(&mut self.live.store);
        for page in &self.touched {
            if let Some(byte) = memory.get_mut(*page as usize * PAGE) {
                *byte = std::hint::black_box(*byte);
            }
        }
    }
}

/// A worker without a supervisor has nothing to live for.
fn or_gone<T>(result: std::io::Result<T>) -> T {
    result.unwrap_or_else(|_| leave(GONE))
}

fn line_of(live: &mut Live) -> &mut Line {
    match &mut live.store.data_mut().relay {
        Some(relay) => &mut relay.line,
        None => leave(BROKEN),
    }
}

/// One program.
struct Run<'a> {
    image: &'a Image,
    live: &'a mut Live,
}

impl Run<'_> {
    fn serve(mut self) {
        loop {
            let most = self.live.store.data().limits.memory_bytes.saturating_mul(2) as usize;
            let Some((kind, content)) = or_gone(line_of(self.live).hear_at_most(most.max(OVERHEAD_BYTES as usize)))
            else {
                // More than fits into its memory, by far.
                return self.end(EndKind::Memory, |_| ());
            };
            let mut reader = Reader(&content);
            let goes_on = match Told::from_number(kind) {
                Some(Told::Start) => {
                    self.keep(&mut reader);
                    self.enter(reader.0, Entry::Start)
                }
                Some(Told::Turn) => {
                    self.answered(&mut reader);
                    self.enter(reader.0, Entry::Turn)
                }
                Some(Told::Resume) => {
                    self.keep(&mut reader);
                    self.resume(reader)
                }
                Some(Told::Suspend) => self.suspend(),
                None => leave(BROKEN),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Sets the limits of this process.
    fn keep(&mut self, reader: &mut Reader<'_>) {
        let Some(Kept { limits, cpu_seconds }) = Kept::read(reader) else { leave(BROKEN) };
        let guest = self.live.store.data_mut();
        guest.limits = limits;
        if let Some(Relay { line, .. }) = guest.relay.take() {
            guest.relay = Some(Relay::new(line, limits.output_bytes));
        }
        worker::limit_data(data_bytes(&limits));
        worker::limit_cpu(cpu_seconds);
    }

    fn answered(&mut self, reader: &mut Reader<'_>) {
        let guest = self.live.store.data_mut();
        for _ in 0..reader.u32().unwrap_or(0) {
            guest.held.answered(CallId(reader.u32().unwrap_or(0)));
        }
    }

    /// Lets the guest run until it waits or ends; whether it goes on.
    fn enter(&mut self, message: &[u8], entry: Entry) -> bool {
        let status = block_on(self.live.enter(self.image.exports(), message, entry));
        match status.map(Status::from_guest) {
            Ok(Some(Status::Pending)) => {
                let memory = self.memory_bytes();
                or_gone(line_of(self.live).wait(memory));
                return true;
            }
            Ok(Some(Status::Ended)) => match self.live.store.data_mut().end.take() {
                Some((kind, data)) => match EndKind::from_number(kind as u8) {
                    Some(kind) => self.end(kind, |out| out.extend(data)),
                    None => self.end(EndKind::Failed, |_| ()),
                },
                None => self.end(EndKind::Failed, |_| ()),
            },
            Ok(None) => self.end(EndKind::Failed, |_| ()),
            Err(error) => self.trapped(&error),
        }
        false
    }

    fn trapped(&mut self, error: &wasmtime::Error) {
        let stop = self.live.store.data_mut().stop.take();
        if stop.is_some_and(|failure| failure.kind == ErrorKind::MemoryLimit) {
            return self.end(EndKind::Memory, |_| ());
        }
        let texts = |texts: [Option<&'static str>; 4]| {
            move |out: &mut Vec<u8>| texts.iter().for_each(|text| frame::put_optional(out, *text))
        };
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => self.end(EndKind::Interrupted, texts([None; 4])),
            Some(Trap::StackOverflow) => {
                self.end(
                    EndKind::Stack,
                    texts([Some("RangeError"), Some("Maximum call stack size exceeded"), None, None]),
                );
            }
            _ => self.end(EndKind::Failed, |_| ()),
        }
    }

    fn end(&mut self, kind: EndKind, write: impl FnOnce(&mut Vec<u8>)) {
        let memory = self.memory_bytes();
        or_gone(line_of(self.live).end(kind, memory, write));
    }

    fn memory_bytes(&self) -> u64 {
        self.live.memory.data_size(&self.live.store) as u64
    }

    fn resume(&mut self, reader: Reader<'_>) -> bool {
        let Some(state) = State::read_memory(self.live.store.data().limits, reader) else { leave(BROKEN) };
        if state.restore(self.live).is_err() {
            leave(BROKEN);
        }
        true
    }

    /// Says what differs from the image. Between two steps the guest's stack is empty.
    fn suspend(&mut self) -> bool {
        let base = self.image.base().unwrap_or_else(|_| leave(BROKEN));
        let stack_pointer = self.live.stack_pointer(self.image.exports());
        if stack_pointer.ok() != Some(base.stack_pointer) {
            leave(BROKEN);
        }
        let state = State::take(base, self.live, Duration::ZERO);
        let line = line_of(self.live);
        line.say(Said::State, |out| match &state {
            Ok(state) => {
                out.push(STATE_WHOLE);
                state.put_memory(out);
            }
            Err(error) => {
                let bytes = match error {
                    EngineError::Suspended(SuspendedError::TooLarge { bytes, .. }) => *bytes,
                    _ => leave(BROKEN),
                };
                out.push(STATE_TOO_LARGE);
                out.extend(bytes.to_le_bytes());
            }
        });
        or_gone(line.send());
        true
    }
}
