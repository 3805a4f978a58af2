//! What an isolith says about the isolates it runs for another.

use super::bytes::{Reader, Writer};
use super::call::{read_call, write_call};
use super::{Malformed, VERSION};
use crate::{Digest, End, EngineError, Failure, PendingCall, Stream, SuspendedError, Timestamp, Unsupported, Usage};

/// One message, read.
#[derive(Debug)]
pub enum Event {
    /// The first one of a connection.
    Hello {
        /// What is spoken: [`VERSION`].
        version: u64,
        /// What the engine is built from.
        image: Digest,
    },
    /// It is there: the answer to a start and to a resumption.
    Started {
        /// What it has used before.
        usage: Usage,
    },
    /// It wrote this.
    Output {
        /// Where to.
        stream: Stream,
        /// What.
        text: String,
        /// When.
        at: Timestamp,
    },
    /// It made this call.
    Call(PendingCall),
    /// It waits for answers: the end of a step.
    Waiting {
        /// What it has used.
        usage: Usage,
    },
    /// It ended: the end of its last step.
    Done {
        /// How.
        end: End,
        /// What it has used.
        usage: Usage,
    },
    /// Its state, sealed.
    Suspended(Vec<u8>),
    /// What was asked is not done, and the isolate is gone.
    Failed(EngineError),
}

const HELLO: u8 = 129;
const STARTED: u8 = 130;
const OUTPUT: u8 = 131;
const CALL: u8 = 132;
const WAITING: u8 = 133;
const DONE: u8 = 134;
const SUSPENDED: u8 = 135;
const FAILED: u8 = 136;

/// Writes [`Event::Hello`].
pub fn hello(image: Digest) -> Vec<u8> {
    let mut to = Writer::new(HELLO, 0);
    to.number(VERSION);
    to.bytes(&image.0);
    to.done()
}

/// Writes [`Event::Started`].
pub fn started(isolate: u64, usage: Usage) -> Vec<u8> {
    with_usage(STARTED, isolate, usage).done()
}

/// Writes [`Event::Output`].
pub fn output(isolate: u64, stream: Stream, text: &str, at: Timestamp) -> Vec<u8> {
    let mut to = Writer::new(OUTPUT, isolate);
    to.byte((stream == Stream::Stderr).into());
    to.text(text);
    to.number(at.as_micros());
    to.done()
}

/// Writes [`Event::Call`].
pub fn call(isolate: u64, call: &PendingCall) -> Vec<u8> {
    let mut to = Writer::new(CALL, isolate);
    write_call(&mut to, call);
    to.done()
}

/// Writes [`Event::Waiting`].
pub fn waiting(isolate: u64, usage: Usage) -> Vec<u8> {
    with_usage(WAITING, isolate, usage).done()
}

/// Writes [`Event::Done`].
pub fn done(isolate: u64, end: &End, usage: Usage) -> Vec<u8> {
    let mut to = with_usage(DONE, isolate, usage);
    match end {
        End::Value(value) => {
            to.byte(0);
            to.maybe(value.as_ref(), |to, json| to.text(json.text()));
        }
        End::Failed(Failure { kind, name, message, stack, code }) => {
            to.byte(1);
            to.data(kind);
            to.text(name);
            to.text(message);
            to.maybe(stack.as_deref(), Writer::text);
            to.maybe(code.as_deref(), Writer::text);
        }
    }
    to.done()
}

/// Writes [`Event::Suspended`].
pub fn suspended(isolate: u64, state: &[u8]) -> Vec<u8> {
    let mut to = Writer::new(SUSPENDED, isolate);
    to.bytes(state);
    to.done()
}

/// Writes [`Event::Failed`]. What went wrong inside stays inside.
pub fn failed(isolate: u64, error: &EngineError) -> Vec<u8> {
    let mut to = Writer::new(FAILED, isolate);
    match error {
        EngineError::Busy { live, waiting } => {
            to.byte(0);
            to.number(*live as u64);
            to.number(*waiting as u64);
        }
        EngineError::Unsupported(Unsupported { what, .. }) => {
            to.byte(1);
            to.text(what);
        }
        EngineError::Suspended(SuspendedError::Damaged(_)) => to.byte(2),
        EngineError::Suspended(SuspendedError::Format { found, known }) => {
            to.byte(3);
            to.number((*found).into());
            to.number((*known).into());
        }
        EngineError::Suspended(SuspendedError::Image { found, own }) => {
            to.byte(4);
            to.text(found);
            to.text(own);
        }
        EngineError::Suspended(SuspendedError::TooLarge { bytes, limit }) => {
            to.byte(5);
            to.number(*bytes);
            to.number(*limit);
        }
        EngineError::Ended => to.byte(6),
        EngineError::Internal { .. } => to.byte(7),
    }
    to.done()
}

impl Event {
    /// Reads a message, whoever it comes from, and gives the isolate it is about. `engine` is who reports what is not supported.
    pub fn read(message: &[u8], engine: &'static str) -> Result<(u64, Event), Malformed> {
        let mut from = Reader::new(message);
        let (kind, isolate) = (from.byte()?, from.number()?);
        let event = match kind {
            HELLO => {
                let version = from.number()?;
                Event::Hello { version, image: Digest(from.bytes()?.try_into().map_err(|_| Malformed)?) }
            }
            STARTED => Event::Started { usage: read_usage(&mut from)? },
            OUTPUT => {
                let stream = if from.flag()? { Stream::Stderr } else { Stream::Stdout };
                Event::Output { stream, text: from.text()?.to_owned(), at: Timestamp::from_micros(from.number()?) }
            }
            CALL => Event::Call(read_call(&mut from)?),
            WAITING => Event::Waiting { usage: read_usage(&mut from)? },
            DONE => {
                let usage = read_usage(&mut from)?;
                Event::Done { end: read_end(&mut from)?, usage }
            }
            SUSPENDED => Event::Suspended(from.bytes()?.to_vec()),
            FAILED => Event::Failed(read_error(&mut from, engine)?),
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok((isolate, event))
    }
}

fn with_usage(kind: u8, isolate: u64, usage: Usage) -> Writer {
    let mut to = Writer::new(kind, isolate);
    // Wall time is for whoever asks to know.
    for number in [usage.cpu_us, usage.memory_peak_bytes, usage.calls.into(), usage.bytes_in, usage.bytes_out] {
        to.number(number);
    }
    to
}

fn read_usage(from: &mut Reader<'_>) -> Result<Usage, Malformed> {
    Ok(Usage {
        wall_us: 0,
        cpu_us: from.number()?,
        memory_peak_bytes: from.number()?,
        calls: from.small()?,
        bytes_in: from.number()?,
        bytes_out: from.number()?,
    })
}

fn read_end(from: &mut Reader<'_>) -> Result<End, Malformed> {
    if !from.flag()? {
        return Ok(End::Value(from.maybe(Reader::json)?));
    }
    Ok(End::Failed(Failure {
        kind: from.data()?,
        name: from.text()?.to_owned(),
        message: from.text()?.to_owned(),
        stack: from.maybe(Reader::text)?.map(str::to_owned),
        code: from.maybe(Reader::text)?.map(str::to_owned),
    }))
}

fn read_error(from: &mut Reader<'_>, engine: &'static str) -> Result<EngineError, Malformed> {
    Ok(match from.byte()? {
        0 => EngineError::Busy { live: from.small()?, waiting: from.small()? },
        1 => Unsupported { engine, what: from.text()?.to_owned() }.into(),
        2 => SuspendedError::Damaged("the other side did not make it, or not for us").into(),
        3 => SuspendedError::Format { found: from.small()?, known: from.small()? }.into(),
        4 => SuspendedError::Image { found: from.text()?.to_owned(), own: from.text()?.to_owned() }.into(),
        5 => SuspendedError::TooLarge { bytes: from.number()?, limit: from.number()? }.into(),
        6 => EngineError::Ended,
        7 => EngineError::Internal {
            doing: "running on another isolith",
            source: "something went wrong there; its log says what".into(),
        },
        _ => return Err(Malformed),
    })
}
