use super::post::{Posted, post};
use super::progress::Progress;
use super::round::{self, Answer, ToolCall, ToolResult};
use crate::Address;
use isolith_core::{
    BindingName, BoxFuture, CallId, Digest, End, EngineError, ErrorKind, Failure, HostCall, Isolate, OutputSink,
    PendingCall, RanOn, Step, Stream, Suspended, Timestamp, Turn, Usage,
};
use std::future::ready;
use std::sync::Arc;

/// How much is shown of an answer that is none.
const SHOWN_CHARS_MAX: usize = 200;

/// One run of a program on a Worker.
pub(super) struct WorkerIsolate {
    address: Arc<Address>,
    image: Digest,
    progress: Progress,
    sink: Arc<dyn OutputSink>,
    /// It ended, or a step was abandoned half-way.
    over: bool,
}

/// What a round came to.
enum Came {
    Step(Step),
    /// All calls it made were answered here.
    Again,
}

impl WorkerIsolate {
    pub(super) fn new(address: Arc<Address>, progress: Progress, sink: Arc<dyn OutputSink>) -> WorkerIsolate {
        let image = Digest::of(&format!("worker {}", address.shown()));
        WorkerIsolate { address, image, progress, sink, over: false }
    }

    async fn step(&mut self, turn: Turn) -> Result<Step, EngineError> {
        if std::mem::replace(&mut self.over, true) {
            return Err(EngineError::Ended);
        }
        let Turn { now, wall_left, replies } = turn;
        replies.into_iter().for_each(|(id, reply)| self.progress.answer(id, reply));
        // A round with some of the results only would ask for the others once more.
        if self.progress.begun && !self.progress.open.is_empty() {
            self.over = false;
            return Ok(Step::Calls(Vec::new()));
        }
        let late = Failure::of(ErrorKind::Timeout, "Timeout", "the program took longer than its time limit");
        let rounds = async {
            loop {
                if let Came::Step(step) = self.round(now).await? {
                    return Ok::<Step, EngineError>(step);
                }
            }
        };
        let step = match tokio::time::timeout(wall_left, rounds).await {
            Ok(step) => step?,
            Err(_) => Step::Done(End::Failed(late), Vec::new()),
        };
        self.over = matches!(step, Step::Done(..));
        Ok(step)
    }

    async fn round(&mut self, now: Timestamp) -> Result<Came, EngineError> {
        let body = round::body(&self.progress);
        let Posted { status, new_lines, body } = post(&self.address, body).await.map_err(failed)?;
        self.progress.begun = true;
        if status != 200 {
            return Err(failed(format!("it answered with status {status}: {}", shown(&body))));
        }
        let (answer, lines) = round::read(&body).ok_or_else(|| failed(format!("it answered {}", shown(&body))))?;
        if let Some(too_much) = self.write(lines, new_lines, now) {
            return Ok(ended(too_much));
        }
        let limits = self.progress.limits;
        Ok(match answer {
            Answer::Value(value) => {
                let bytes = value.as_ref().map_or(0, |json| json.text().len()) as u64;
                self.progress.bytes_out += bytes;
                if bytes > limits.value_bytes {
                    let message = format!("the value is {bytes} bytes, but the limit is {}", limits.value_bytes);
                    return Ok(ended(Failure::of(ErrorKind::OutputLimit, "OutputLimit", message)));
                }
                Came::Step(Step::Done(End::Value(value), Vec::new()))
            }
            Answer::Threw { name, message } => ended(Failure::of(ErrorKind::Thrown, &name, message)),
            Answer::Stopped { name, message } if name == "TimeoutError" => {
                ended(Failure::of(ErrorKind::Timeout, "Timeout", message))
            }
            Answer::Stopped { name, message } => return Err(failed(format!("{name}: {message}"))),
            Answer::NeedTools(calls) => self.calls(calls)?,
        })
    }

    /// Takes calls that no earlier round made.
    fn calls(&mut self, calls: Vec<ToolCall>) -> Result<Came, EngineError> {
        let limits = self.progress.limits;
        let (mut pending, none) = (Vec::new(), calls.is_empty());
        for ToolCall { id, name, args } in calls {
            let known = self.progress.results.contains_key(&id) || self.progress.open.contains(&id);
            let granted = BindingName::new(name).ok().filter(|name| self.progress.tools.contains(name));
            let (false, Some(name)) = (known, granted) else {
                return Err(failed("it asks for what was answered, or was not granted".into()));
            };
            if self.progress.results.len() + self.progress.open.len() >= limits.calls as usize {
                let message = format!("the program made more than {} calls", limits.calls);
                return Ok(ended(Failure::of(ErrorKind::CallLimit, "CallLimit", message)));
            }
            let bytes = args.as_ref().map_or(0, |args| args.text().len()) as u64;
            self.progress.bytes_out += bytes;
            if bytes > limits.payload_bytes {
                let most = limits.payload_bytes;
                let message = format!("the argument is {bytes} bytes, but one call may take {most}");
                self.progress.results.insert(id, ToolResult::failed(message));
                continue;
            }
            self.progress.open.insert(id);
            pending.push(PendingCall { id: CallId(id), call: HostCall::Tool { name: name.into(), args } });
        }
        if none {
            return Err(failed("it waits for nothing".into()));
        }
        Ok(if pending.is_empty() { Came::Again } else { Came::Step(Step::Calls(pending)) })
    }

    /// Passes on the lines that are new. The Worker repeats those of earlier rounds, because it runs the program again.
    fn write(&mut self, lines: Vec<String>, all_new: bool, now: Timestamp) -> Option<Failure> {
        let before = if all_new { 0 } else { self.progress.lines };
        for line in lines.into_iter().skip(before) {
            let (stream, text) = streamed(&line);
            if self.progress.output(text.len()).is_none() {
                let most = self.progress.limits.output_bytes;
                let message = format!("the program wrote more than {most} bytes");
                return Some(Failure::of(ErrorKind::OutputLimit, "OutputLimit", message));
            }
            self.progress.lines += 1;
            self.sink.write(stream, text.to_owned(), now);
        }
        None
    }
}

/// Where a line went, as its beginning says.
fn streamed(line: &str) -> (Stream, &str) {
    for (prefix, stream) in [("ERROR: ", Stream::Stderr), ("WARN: ", Stream::Stderr), ("INFO: ", Stream::Stdout)] {
        if let Some(rest) = line.strip_prefix(prefix) {
            return (stream, rest);
        }
    }
    (Stream::Stdout, line)
}

fn ended(failure: Failure) -> Came {
    Came::Step(Step::Done(End::Failed(failure), Vec::new()))
}

fn failed(why: String) -> EngineError {
    EngineError::Internal { doing: "running on a Worker", source: why.into() }
}

fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..4 * SHOWN_CHARS_MAX).unwrap_or(body)).into_owned();
    text.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS_MAX).collect()
}

impl Isolate for WorkerIsolate {
    /// A Worker whose request is dropped may compute on, up to its own limit; nobody hears of it.
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(self.step(turn))
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        let begun = !self.over && self.progress.begun;
        let state = if begun { self.progress.write(self.image).map_err(Into::into) } else { Err(EngineError::Ended) };
        Box::pin(ready(state))
    }

    fn usage(&self) -> Usage {
        self.progress.usage()
    }

    fn ran_on(&self) -> RanOn {
        RanOn::engine(super::NAME)
    }
}
