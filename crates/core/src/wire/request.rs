//! What one asks of the isolith that runs its isolates.

use super::Malformed;
use super::bytes::{Reader, Writer};
use super::call::{read_reply, write_reply};
use crate::{
    Ambient, BindingName, Bindings, Form, Json, Limits, Module, OutputSink, Program, Seed, Start, Timestamp, Turn,
};
use std::sync::Arc;
use std::time::Duration;

/// One request, read.
pub enum Request {
    /// As [`Engine::start`](crate::Engine::start).
    Start {
        /// The isolate's number from now on.
        isolate: u64,
        /// What it runs.
        program: Program,
        /// What it starts with.
        opening: Box<Opening>,
    },
    /// As [`Isolate::advance`](crate::Isolate::advance).
    Advance {
        /// Which.
        isolate: u64,
        /// What it is given.
        turn: Turn,
    },
    /// As [`Isolate::suspend`](crate::Isolate::suspend).
    Suspend {
        /// Which.
        isolate: u64,
    },
    /// As [`Engine::resume`](crate::Engine::resume).
    Resume {
        /// The isolate's number from now on.
        isolate: u64,
        /// As it was given away, sealed.
        state: Vec<u8>,
    },
    /// It is not needed any more, whatever it is doing.
    Drop {
        /// Which.
        isolate: u64,
    },
}

/// A [`Start`] without the place where output goes.
pub struct Opening {
    /// What it may use.
    pub limits: Limits,
    /// The names of what it may do.
    pub bindings: Bindings,
    /// What it may know of the world besides.
    pub ambient: Ambient,
    /// Visible to it as `input`.
    pub input: Option<Json>,
    /// Visible to it as globals.
    pub args: Vec<(BindingName, Json)>,
    /// Where its randomness grows from.
    pub seed: Seed,
}

impl Opening {
    /// With a place for output.
    pub fn with(self, sink: Arc<dyn OutputSink>) -> Start {
        let Opening { limits, bindings, ambient, input, args, seed } = self;
        Start { limits, bindings, ambient, input, args, seed, sink, must_suspend: true }
    }
}

const START: u8 = 1;
const ADVANCE: u8 = 2;
const SUSPEND: u8 = 3;
const RESUME: u8 = 4;
const DROP: u8 = 5;

/// Writes [`Request::Start`].
pub fn start(isolate: u64, program: &Program, start: &Start) -> Vec<u8> {
    let mut to = Writer::new(START, isolate);
    to.text(&program.name);
    to.data(&program.form);
    to.text(&program.code);
    to.list(&program.modules, |to, module| {
        to.text(&module.name);
        to.text(&module.code);
    });
    to.data(&start.limits);
    to.data(&start.bindings);
    to.data(&start.ambient);
    to.maybe(start.input.as_ref(), |to, json| to.text(json.text()));
    to.list(&start.args, |to, (name, json)| {
        to.text(name.as_str());
        to.text(json.text());
    });
    to.bytes(&start.seed.0);
    to.done()
}

/// Writes [`Request::Advance`].
pub fn advance(isolate: u64, turn: &Turn) -> Vec<u8> {
    let mut to = Writer::new(ADVANCE, isolate);
    to.number(turn.now.as_micros());
    to.number(u64::try_from(turn.wall_left.as_micros()).unwrap_or(u64::MAX));
    to.list(&turn.replies, write_reply);
    to.done()
}

/// Writes [`Request::Suspend`].
pub fn suspend(isolate: u64) -> Vec<u8> {
    Writer::new(SUSPEND, isolate).done()
}

/// Writes [`Request::Resume`].
pub fn resume(isolate: u64, state: &[u8]) -> Vec<u8> {
    let mut to = Writer::new(RESUME, isolate);
    to.bytes(state);
    to.done()
}

/// Writes [`Request::Drop`].
pub fn drop(isolate: u64) -> Vec<u8> {
    Writer::new(DROP, isolate).done()
}

/// Makes a message be about another isolate. Numbers are given in the order of sending, which is known last.
pub fn renumber(message: &mut [u8], isolate: u64) {
    if let Some(number) = message.get_mut(1..9) {
        number.copy_from_slice(&isolate.to_le_bytes());
    }
}

impl Request {
    /// Reads a message, whoever it comes from.
    pub fn read(message: &[u8]) -> Result<Request, Malformed> {
        let mut from = Reader::new(message);
        let (kind, isolate) = (from.byte()?, from.number()?);
        let request = match kind {
            START => {
                let program = read_program(&mut from)?;
                Request::Start { isolate, program, opening: Box::new(read_opening(&mut from)?) }
            }
            ADVANCE => Request::Advance { isolate, turn: read_turn(&mut from)? },
            SUSPEND => Request::Suspend { isolate },
            RESUME => Request::Resume { isolate, state: from.bytes()?.to_vec() },
            DROP => Request::Drop { isolate },
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(request)
    }
}

fn read_program(from: &mut Reader<'_>) -> Result<Program, Malformed> {
    let (name, form, code) = (from.text()?, from.data::<Form>()?, from.text()?);
    let modules = from.list(|from| Ok(Module { name: from.text()?.into(), code: from.text()?.into() }))?;
    Ok(Program { name: name.into(), code: code.into(), form, modules: modules.into() })
}

fn read_opening(from: &mut Reader<'_>) -> Result<Opening, Malformed> {
    Ok(Opening {
        limits: from.data()?,
        bindings: from.data()?,
        ambient: from.data()?,
        input: from.maybe(Reader::json)?,
        args: from.list(|from| Ok((BindingName::new(from.text()?).map_err(|_| Malformed)?, from.json()?)))?,
        seed: Seed(from.bytes()?.try_into().map_err(|_| Malformed)?),
    })
}

fn read_turn(from: &mut Reader<'_>) -> Result<Turn, Malformed> {
    Ok(Turn {
        now: Timestamp::from_micros(from.number()?),
        wall_left: Duration::from_micros(from.number()?),
        replies: from.list(read_reply)?,
    })
}
